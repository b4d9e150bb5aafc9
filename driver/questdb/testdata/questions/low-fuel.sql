SELECT timestamp, name, driver, fuel_state
FROM (
SELECT
  timestamp,
  name,
  driver,
  fuel_state
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
LATEST ON timestamp PARTITION BY name
) AS newest_rows
WHERE fuel_state < 0.1e0
