SELECT
  g_0.time,
  tags.device,
  g_0.s_3,
  g_0.s_4
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 's_3') AS s_3,
    max(value) FILTER (WHERE field = 's_4') AS s_4,
    max(value) FILTER (WHERE field = 's_0') AS s_0
  FROM g_0
  WHERE field IN ('s_3', 's_4', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_24', 'd_2'))
    AND time >= TIMESTAMPTZ '2016-01-03 21:54:59.133+00'
    AND time < TIMESTAMPTZ '2016-01-03 21:59:09.133001+00'
  GROUP BY 1, 2
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE g_0.s_3 > -5
  AND g_0.s_4 > -5
ORDER BY 1 DESC, 2 DESC
