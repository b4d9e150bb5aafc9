WITH buckets AS (
  SELECT
    tags.name,
    readings.time - (readings.time % 600000000000 + 600000000000) % 600000000000 AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.fleet IN ('West')
    AND tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
    AND readings.time >= 1451641154646325000
    AND readings.time < 1451727554646325000
  GROUP BY 1, 2
)
SELECT name
FROM buckets
WHERE active
GROUP BY 1
HAVING count(*) > 60
