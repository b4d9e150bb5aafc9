SELECT
  fleet,
  model,
  load_capacity,
  avg(mean_current_load) AS mean_current_load
FROM (
  SELECT
    tags.fleet,
    tags.model,
    tags.load_capacity,
    avg(diagnostics.current_load) / tags.load_capacity AS mean_current_load
  FROM (
    SELECT
      time,
      tags_id,
      CASE WHEN field = 'current_load' THEN value END AS current_load,
      CASE WHEN field = 'fuel_state' THEN value END AS fuel_state
    FROM diagnostics
    WHERE field IN ('current_load', 'fuel_state')
  ) AS diagnostics
  JOIN tags ON tags.id = diagnostics.tags_id
  WHERE tags.fleet IS NOT NULL
    AND tags.model IS NOT NULL
    AND tags.load_capacity IS NOT NULL
    AND tags.name IS NOT NULL
  GROUP BY 1, 2, 3, tags.name
) AS units
GROUP BY 1, 2, 3
