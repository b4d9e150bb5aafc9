WITH buckets AS (
  SELECT
    name,
    date_bin('600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(velocity) > 5e0 AS active
  FROM readings
  WHERE name IS NOT NULL
    AND velocity IS NOT NULL
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
