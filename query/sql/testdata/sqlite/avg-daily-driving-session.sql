WITH buckets AS (
  SELECT
    tags.name,
    readings.time - (readings.time % 600000000000 + 600000000000) % 600000000000 AS bucket,
    avg(readings.velocity) > 5e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
  GROUP BY 1, 2
), changes AS (
  SELECT
    name,
    bucket,
    active,
    lag(active) OVER (PARTITION BY name ORDER BY bucket) AS before
  FROM buckets
), sessions AS (
  SELECT
    name,
    bucket AS start,
    active,
    lead(bucket) OVER (PARTITION BY name ORDER BY bucket) AS stop
  FROM changes
  WHERE active <> before
)
SELECT
  start - (start % 86400000000000 + 86400000000000) % 86400000000000 AS day,
  name,
  avg((stop - start) / 1e9) AS seconds
FROM sessions
WHERE active AND stop IS NOT NULL
GROUP BY 1, 2
ORDER BY 1, 2
