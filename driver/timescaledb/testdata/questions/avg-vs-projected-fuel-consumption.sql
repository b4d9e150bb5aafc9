SELECT
  tags.fleet,
  avg(readings.fuel_consumption) AS mean_fuel_consumption,
  avg(tags.nominal_fuel_consumption) AS mean_nominal_fuel_consumption
FROM readings
JOIN tags ON tags.id = readings.tags_id
WHERE tags.name IS NOT NULL
  AND tags.nominal_fuel_consumption IS NOT NULL
  AND tags.fleet IS NOT NULL
  AND readings.velocity > 1e0
GROUP BY 1
