SELECT
  g_0.time,
  tags.device,
  g_0.s_6,
  g_0.s_2
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 's_6') AS s_6,
    max(value) FILTER (WHERE field = 's_2') AS s_2,
    max(value) FILTER (WHERE field = 's_0') AS s_0
  FROM g_0
  WHERE field IN ('s_6', 's_2', 's_0')
  GROUP BY 1, 2
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
LIMIT 100
