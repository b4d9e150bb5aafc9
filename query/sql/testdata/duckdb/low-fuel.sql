SELECT time, name, driver, fuel_state
FROM (
SELECT DISTINCT ON (tags.name)
  diagnostics.time,
  tags.name,
  tags.driver,
  diagnostics.fuel_state
FROM diagnostics
JOIN tags ON tags.id = diagnostics.tags_id
JOIN (
  SELECT tags_id, max(time) AS time
  FROM diagnostics
  WHERE tags_id IN (SELECT id FROM tags WHERE fleet IN ('South'))
  GROUP BY 1
) AS newest ON newest.tags_id = diagnostics.tags_id AND newest.time = diagnostics.time
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
ORDER BY tags.name, diagnostics.time DESC
) AS newest_rows
WHERE fuel_state < 0.1e0
