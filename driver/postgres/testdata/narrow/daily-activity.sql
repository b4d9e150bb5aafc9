WITH buckets AS (
  SELECT
    tags.fleet,
    tags.model,
    tags.name,
    date_bin('600 seconds', diagnostics.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(diagnostics.status) < 1e0 AS active
  FROM (
    SELECT
      time,
      tags_id,
      value AS status
    FROM diagnostics
    WHERE field IN ('status')
  ) AS diagnostics
  JOIN tags ON tags.id = diagnostics.tags_id
  WHERE tags.fleet IS NOT NULL
    AND tags.model IS NOT NULL
    AND tags.name IS NOT NULL
    AND diagnostics.status IS NOT NULL
  GROUP BY 1, 2, 3, 4
)
SELECT
  date_bin('86400 seconds', bucket, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS day,
  fleet,
  model,
  count(*) / 144e0 AS share
FROM buckets
WHERE active
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
