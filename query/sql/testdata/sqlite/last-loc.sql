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
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
GROUP BY tags.name
