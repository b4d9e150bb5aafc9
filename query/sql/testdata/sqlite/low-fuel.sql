SELECT time, name, driver, fuel_state
FROM (
SELECT
  max(diagnostics.time) AS time,
  tags.name,
  tags.driver,
  diagnostics.fuel_state
FROM tags
JOIN diagnostics ON diagnostics.tags_id = tags.id AND diagnostics.time = (
  SELECT max(time)
  FROM diagnostics
  WHERE tags_id = tags.id
)
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
GROUP BY tags.name
) AS newest_rows
WHERE fuel_state < 0.1e0
