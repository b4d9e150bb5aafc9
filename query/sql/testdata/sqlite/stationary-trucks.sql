SELECT
  tags.name,
  avg(readings.velocity) AS mean_velocity
FROM readings
JOIN tags ON tags.id = readings.tags_id
WHERE tags.fleet IN ('West')
  AND tags.name IS NOT NULL
  AND readings.time >= 1451736049646325000
  AND readings.time < 1451736649646325000
GROUP BY 1
HAVING avg(readings.velocity) < 1e0
