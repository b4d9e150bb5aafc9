WITH buckets AS (
  SELECT
    tags.name,
    date_bin('600 seconds', readings.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.fleet IN ('West')
    AND tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
    AND readings.time >= TIMESTAMPTZ '2016-01-01 09:39:14.646325+00'
    AND readings.time < TIMESTAMPTZ '2016-01-02 09:39:14.646325+00'
  GROUP BY 1, 2
)
SELECT name
FROM buckets
WHERE active
GROUP BY 1
HAVING count(*) > 60
