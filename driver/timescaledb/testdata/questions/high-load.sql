SELECT time, name, driver, current_load
FROM (
SELECT DISTINCT ON (tags.name)
  diagnostics.time,
  tags.name,
  tags.driver,
  diagnostics.current_load,
  tags.load_capacity AS divisor
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
WHERE current_load / divisor > 0.9e0
