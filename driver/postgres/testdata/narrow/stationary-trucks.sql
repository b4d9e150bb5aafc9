SELECT
  tags.name,
  avg(readings.velocity) AS mean_velocity
FROM (
  SELECT
    time,
    tags_id,
    CASE WHEN field = 'velocity' THEN value END AS velocity,
    CASE WHEN field = 'latitude' THEN value END AS latitude
  FROM readings
  WHERE field IN ('velocity', 'latitude')
    AND tags_id IN (SELECT id FROM tags WHERE fleet IN ('West'))
    AND time >= TIMESTAMPTZ '2016-01-02 12:00:49.646325+00'
    AND time < TIMESTAMPTZ '2016-01-02 12:10:49.646325+00'
) AS readings
JOIN tags ON tags.id = readings.tags_id
WHERE tags.name IS NOT NULL
GROUP BY 1
HAVING avg(readings.velocity) < 1e0
