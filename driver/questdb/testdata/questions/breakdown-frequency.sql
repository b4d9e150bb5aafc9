WITH buckets AS (
  SELECT
    model,
    name,
    timestamp_floor('10m', timestamp) AS bucket,
    CASE WHEN avg(CASE WHEN status = 0 THEN 1e0 ELSE 0e0 END) >= 0.5e0 THEN 1 ELSE 0 END AS active
  FROM diagnostics
  WHERE model IS NOT NULL
    AND name IS NOT NULL
    AND status IS NOT NULL
  GROUP BY 1, 2, 3
), changes AS (
  SELECT
    model,
    name,
    bucket,
    active,
    lag(active) OVER (PARTITION BY model, name ORDER BY bucket) AS before
  FROM buckets
)
SELECT
  model,
  count(*) AS starts
FROM changes
WHERE active = 1 AND before = 0
GROUP BY 1
