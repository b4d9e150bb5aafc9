WITH buckets AS (
  SELECT
    tags.fleet,
    tags.model,
    tags.name,
    diagnostics.time - (diagnostics.time % 600000000000 + 600000000000) % 600000000000 AS bucket,
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
  bucket - (bucket % 86400000000000 + 86400000000000) % 86400000000000 AS day,
  fleet,
  model,
  count(*) / 144e0 AS share
FROM buckets
WHERE active
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
