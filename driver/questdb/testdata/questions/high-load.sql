SELECT timestamp, name, driver, current_load
FROM (
SELECT
  timestamp,
  name,
  driver,
  current_load,
  load_capacity AS divisor
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
LATEST ON timestamp PARTITION BY name
) AS newest_rows
WHERE current_load / divisor > 0.9e0
