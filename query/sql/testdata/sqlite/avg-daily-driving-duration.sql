WITH buckets AS (
  SELECT
    tags.name,
    readings.time - (readings.time % 600000000000 + 600000000000) % 600000000000 AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT bucket - (bucket % 86400000000000 + 86400000000000) % 86400000000000) AS hours
FROM buckets
WHERE active
GROUP BY 1
