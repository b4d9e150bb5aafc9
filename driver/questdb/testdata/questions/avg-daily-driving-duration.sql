WITH buckets AS (
  SELECT
    name,
    timestamp_floor('10m', timestamp) AS bucket,
    CASE WHEN avg(velocity) > 1e0 THEN 1 ELSE 0 END AS active
  FROM readings
  WHERE name IS NOT NULL
    AND velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT timestamp_floor('1d', bucket)) AS hours
FROM buckets
WHERE active = 1
GROUP BY 1
