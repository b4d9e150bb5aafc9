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
  FROM (
    SELECT
      time,
      tags_id,
      max(value) FILTER (WHERE field = 'fuel_state') AS fuel_state
    FROM diagnostics
    WHERE field IN ('fuel_state')
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
WHERE fuel_state < 0.1e0
