SELECT DISTINCT ON (tags.name)
  readings.time,
  tags.name,
  tags.driver,
  readings.longitude,
  readings.latitude
FROM tags
CROSS JOIN LATERAL (
  SELECT *
  FROM readings
  WHERE readings.tags_id = tags.id
  ORDER BY time DESC
  LIMIT 1
) AS readings
WHERE tags.name IN ('truck_35')
ORDER BY tags.name, readings.time DESC
