WITH buckets AS (
  SELECT
    fleet,
    model,
    name,
    date_bin('600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(status) < 1e0 AS active
  FROM diagnostics
  WHERE fleet IS NOT NULL
    AND model IS NOT NULL
    AND name IS NOT NULL
    AND status IS NOT NULL
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
