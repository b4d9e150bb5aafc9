WITH buckets AS (
  SELECT
    name,
    date_bin('600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(velocity) > 1e0 AS active
  FROM readings
  WHERE fleet IN ('West')
    AND name IS NOT NULL
    AND velocity IS NOT NULL
    AND time >= TIMESTAMPTZ '2016-01-01 09:39:14.646325+00'
    AND time < TIMESTAMPTZ '2016-01-02 09:39:14.646325+00'
  GROUP BY 1, 2
)
SELECT name
FROM buckets
WHERE active
GROUP BY 1
HAVING count(*) > 60
