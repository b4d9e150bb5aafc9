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
  FROM diagnostics
  JOIN tags ON tags.id = diagnostics.tags_id
  WHERE tags.fleet IS NOT NULL
    AND tags.model IS NOT NULL
    AND tags.load_capacity IS NOT NULL
    AND tags.name IS NOT NULL
  GROUP BY 1, 2, 3, tags.name
) AS units
GROUP BY 1, 2, 3
