WITH buckets AS (
  SELECT
    tags.name,
    date_bin('600 seconds', readings.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM (
    SELECT
      time,
      tags_id,
      value AS velocity
    FROM readings
    WHERE field IN ('velocity')
  ) AS readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT date_bin('86400 seconds', bucket, TIMESTAMPTZ '1970-01-01 00:00:00+00')) AS hours
FROM buckets
WHERE active
GROUP BY 1
