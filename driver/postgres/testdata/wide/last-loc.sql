SELECT DISTINCT ON (name)
  time,
  name,
  driver,
  longitude,
  latitude
FROM readings
WHERE fleet IN ('South')
  AND name IS NOT NULL
ORDER BY name, time DESC
