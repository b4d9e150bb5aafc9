SELECT
  tags.name,
  avg(readings.velocity) AS mean_velocity
FROM readings
JOIN tags ON tags.id = readings.tags_id
WHERE tags.fleet IN ('West')
  AND tags.name IS NOT NULL
  AND readings.time >= TIMESTAMPTZ '2016-01-02 12:00:49.646325+00'
  AND readings.time < TIMESTAMPTZ '2016-01-02 12:10:49.646325+00'
GROUP BY 1
HAVING avg(readings.velocity) < 1e0
