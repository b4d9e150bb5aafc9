SELECT
  max(readings.time) AS time,
  tags.name,
  tags.driver,
  readings.longitude,
  readings.latitude
FROM tags
JOIN readings ON readings.tags_id = tags.id AND readings.time = (
  SELECT max(time)
  FROM readings
  WHERE tags_id = tags.id
)
WHERE tags.name IN ('truck_35')
GROUP BY tags.name
