SELECT time, name, driver, fuel_state
FROM (
SELECT DISTINCT ON (name)
  time,
  name,
  driver,
  fuel_state
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
ORDER BY name, time DESC
) AS newest_rows
WHERE fuel_state < 0.1e0
