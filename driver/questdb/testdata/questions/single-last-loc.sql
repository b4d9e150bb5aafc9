SELECT
  timestamp,
  name,
  driver,
  longitude,
  latitude
FROM readings
WHERE name IN ('truck_35')
LATEST ON timestamp PARTITION BY name
