SELECT name, mean_velocity
FROM (
  SELECT
    name,
    avg(velocity) AS mean_velocity
  FROM readings
  WHERE fleet IN ('West')
    AND name IS NOT NULL
    AND timestamp >= '2016-01-02T12:00:49.646325Z'
    AND timestamp < '2016-01-02T12:10:49.646325Z'
  GROUP BY 1
) AS groups_of_rows
WHERE mean_velocity < 1e0
