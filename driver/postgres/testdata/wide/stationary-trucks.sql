SELECT
  name,
  avg(velocity) AS mean_velocity
FROM readings
WHERE fleet IN ('West')
  AND name IS NOT NULL
  AND time >= TIMESTAMPTZ '2016-01-02 12:00:49.646325+00'
  AND time < TIMESTAMPTZ '2016-01-02 12:10:49.646325+00'
GROUP BY 1
HAVING avg(velocity) < 1e0
