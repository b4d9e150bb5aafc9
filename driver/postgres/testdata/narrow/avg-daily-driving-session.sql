WITH buckets AS (
  SELECT
    tags.name,
    date_bin('600 seconds', readings.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(readings.velocity) > 5e0 AS active
  FROM (
    SELECT
      time,
      tags_id,
      value AS velocity
    FROM readings
    WHERE field IN ('velocity')
  ) AS readings
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
  date_bin('86400 seconds', start, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS day,
  name,
  avg(extract(epoch FROM stop - start)::double precision) AS seconds
FROM sessions
WHERE active AND stop IS NOT NULL
GROUP BY 1, 2
ORDER BY 1, 2
