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
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
ORDER BY tags.name, readings.time DESC
