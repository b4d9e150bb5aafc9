SELECT DISTINCT ON (tags.name)
  readings.time,
  tags.name,
  tags.driver,
  readings.longitude,
  readings.latitude
FROM tags
CROSS JOIN LATERAL (
  SELECT *
  FROM (
    SELECT
      time,
      tags_id,
      max(value) FILTER (WHERE field = 'longitude') AS longitude,
      max(value) FILTER (WHERE field = 'latitude') AS latitude
    FROM readings
    WHERE field IN ('longitude', 'latitude')
      AND readings.tags_id = tags.id
      AND tags_id IN (SELECT id FROM tags WHERE name IN ('truck_35'))
    GROUP BY 1, 2
  ) AS readings
  ORDER BY time DESC
  LIMIT 1
) AS readings
ORDER BY tags.name, readings.time DESC
