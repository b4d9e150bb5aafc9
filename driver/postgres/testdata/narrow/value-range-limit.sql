SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_6
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 's_5') AS s_5,
    max(value) FILTER (WHERE field = 's_6') AS s_6,
    max(value) FILTER (WHERE field = 's_0') AS s_0
  FROM g_0
  WHERE field IN ('s_5', 's_6', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_41', 'd_46'))
    AND time >= TIMESTAMPTZ '2016-01-03 22:57:09.909+00'
    AND time < TIMESTAMPTZ '2016-01-03 23:01:19.909001+00'
  GROUP BY 1, 2
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE g_0.s_5 > -5e0
  AND g_0.s_6 > -5e0
LIMIT 100
