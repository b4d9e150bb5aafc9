SELECT DISTINCT ON (name)
  time,
  name,
  driver,
  longitude,
  latitude
FROM readings
WHERE name IN ('truck_35')
ORDER BY name, time DESC
