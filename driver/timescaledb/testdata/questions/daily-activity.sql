WITH buckets AS (
  SELECT
    tags.fleet,
    tags.model,
    tags.name,
    time_bucket('600 seconds', diagnostics.time) AS bucket,
    avg(diagnostics.status) < 1e0 AS active
  FROM diagnostics
  JOIN tags ON tags.id = diagnostics.tags_id
  WHERE tags.fleet IS NOT NULL
    AND tags.model IS NOT NULL
    AND tags.name IS NOT NULL
    AND diagnostics.status IS NOT NULL
  GROUP BY 1, 2, 3, 4
)
SELECT
  time_bucket('86400 seconds', bucket) AS day,
  fleet,
  model,
  count(*) / 144e0 AS share
FROM buckets
WHERE active
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
