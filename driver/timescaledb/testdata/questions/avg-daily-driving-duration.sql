WITH buckets AS (
  SELECT
    tags.name,
    time_bucket('600 seconds', readings.time) AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT time_bucket('86400 seconds', bucket)) AS hours
FROM buckets
WHERE active
GROUP BY 1
