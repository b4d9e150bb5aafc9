SELECT
  timestamp,
  name,
  driver,
  longitude,
  latitude
FROM readings
WHERE fleet IN ('South')
  AND name IS NOT NULL
LATEST ON timestamp PARTITION BY name
