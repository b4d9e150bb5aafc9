SELECT time, name, driver, current_load
FROM (
SELECT DISTINCT ON (name)
  time,
  name,
  driver,
  current_load,
  load_capacity AS divisor
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
ORDER BY name, time DESC
) AS newest_rows
WHERE current_load / divisor > 0.9e0
