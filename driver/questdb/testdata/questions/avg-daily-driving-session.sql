WITH buckets AS (
  SELECT
    name,
    timestamp_floor('10m', timestamp) AS bucket,
    CASE WHEN avg(velocity) > 5e0 THEN 1 ELSE 0 END AS active
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
  WHERE active <> before AND before IS NOT NULL
)
SELECT
  timestamp_floor('1d', start) AS day,
  name,
  avg(datediff('u', start, stop) / 1e6) AS seconds
FROM sessions
WHERE active = 1 AND stop IS NOT NULL
GROUP BY 1, 2
ORDER BY 1, 2
