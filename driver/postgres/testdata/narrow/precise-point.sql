SELECT
  g_0.time,
  tags.device,
  g_0.s_7,
  g_0.s_4
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 's_7') AS s_7,
    max(value) FILTER (WHERE field = 's_4') AS s_4,
    max(value) FILTER (WHERE field = 's_0') AS s_0
  FROM g_0
  WHERE field IN ('s_7', 's_4', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_85', 'd_70'))
    AND time = TIMESTAMPTZ '2016-01-03 17:22:20+00'
  GROUP BY 1, 2
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
