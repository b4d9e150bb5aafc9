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
      AND tags_id IN (SELECT id FROM tags WHERE fleet IN ('West'))
      AND time >= TIMESTAMPTZ '2016-01-01 20:11:20.646325+00'
      AND time < TIMESTAMPTZ '2016-01-02 00:11:20.646325+00'
  ) AS readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT name
FROM buckets
WHERE active
GROUP BY 1
HAVING count(*) > 22
