SELECT time, name, driver, current_load
FROM (
SELECT
  max(diagnostics.time) AS time,
  tags.name,
  tags.driver,
  diagnostics.current_load,
  tags.load_capacity AS divisor
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
WHERE current_load / divisor > 0.9e0
