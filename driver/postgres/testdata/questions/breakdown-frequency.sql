WITH buckets AS (
  SELECT
    tags.model,
    tags.name,
    date_bin('600 seconds', diagnostics.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(CASE WHEN diagnostics.status = 0 THEN 1e0 ELSE 0e0 END) >= 0.5e0 AS active
  FROM diagnostics
  JOIN tags ON tags.id = diagnostics.tags_id
  WHERE tags.model IS NOT NULL
    AND tags.name IS NOT NULL
    AND diagnostics.status IS NOT NULL
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
WHERE active AND NOT before
GROUP BY 1
