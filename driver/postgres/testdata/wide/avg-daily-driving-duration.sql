WITH buckets AS (
  SELECT
    name,
    date_bin('600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(velocity) > 1e0 AS active
  FROM readings
  WHERE name IS NOT NULL
    AND velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT date_bin('86400 seconds', bucket, TIMESTAMPTZ '1970-01-01 00:00:00+00')) AS hours
FROM buckets
WHERE active
GROUP BY 1
