SELECT time, name, driver, fuel_state
FROM (
SELECT DISTINCT ON (tags.name)
  diagnostics.time,
  tags.name,
  tags.driver,
  diagnostics.fuel_state
FROM tags
CROSS JOIN LATERAL (
  SELECT *
  FROM diagnostics
  WHERE diagnostics.tags_id = tags.id
  ORDER BY time DESC
  LIMIT 1
) AS diagnostics
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
ORDER BY tags.name, diagnostics.time DESC
) AS newest_rows
WHERE fuel_state < 0.1e0
