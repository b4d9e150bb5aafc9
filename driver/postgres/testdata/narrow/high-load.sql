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
  FROM (
    SELECT
      time,
      tags_id,
      max(value) FILTER (WHERE field = 'current_load') AS current_load,
      max(value) FILTER (WHERE field = 'fuel_state') AS fuel_state
    FROM diagnostics
    WHERE field IN ('current_load', 'fuel_state')
      AND diagnostics.tags_id = tags.id
      AND tags_id IN (SELECT id FROM tags WHERE fleet IN ('South'))
    GROUP BY 1, 2
  ) AS diagnostics
  ORDER BY time DESC
  LIMIT 1
) AS diagnostics
WHERE tags.name IS NOT NULL
ORDER BY tags.name, diagnostics.time DESC
) AS newest_rows
WHERE current_load / divisor > 0.9e0
