SELECT DISTINCT ON (tags.name)
  readings.time,
  tags.name,
  tags.driver,
  readings.longitude,
  readings.latitude
FROM readings
JOIN tags ON tags.id = readings.tags_id
JOIN (
  SELECT tags_id, max(time) AS time
  FROM readings
  WHERE tags_id IN (SELECT id FROM tags WHERE fleet IN ('South'))
  GROUP BY 1
) AS newest ON newest.tags_id = readings.tags_id AND newest.time = readings.time
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
ORDER BY tags.name, readings.time DESC
