WITH buckets AS (
  SELECT
    fleet,
    model,
    name,
    timestamp_floor('10m', timestamp) AS bucket,
    CASE WHEN avg(status) < 1e0 THEN 1 ELSE 0 END AS active
  FROM diagnostics
  WHERE fleet IS NOT NULL
    AND model IS NOT NULL
    AND name IS NOT NULL
    AND status IS NOT NULL
  GROUP BY 1, 2, 3, 4
)
SELECT
  timestamp_floor('1d', bucket) AS day,
  fleet,
  model,
  count(*) / 144e0 AS share
FROM buckets
WHERE active = 1
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
