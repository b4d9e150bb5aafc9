WITH buckets AS (
  SELECT
    name,
    timestamp_floor('10m', timestamp) AS bucket,
    CASE WHEN avg(velocity) > 1e0 THEN 1 ELSE 0 END AS active
  FROM readings
  WHERE fleet IN ('West')
    AND name IS NOT NULL
    AND velocity IS NOT NULL
    AND timestamp >= '2016-01-01T09:39:14.646325Z'
    AND timestamp < '2016-01-02T09:39:14.646325Z'
  GROUP BY 1, 2
)
SELECT name
FROM (
  SELECT name, count(*) AS condition_value
  FROM buckets
  WHERE active = 1
  GROUP BY 1
) AS units
WHERE condition_value > 60
