SELECT
  g_0.time,
  tags.device,
  g_0.s_2,
  g_0.s_1
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 's_2') AS s_2,
    max(value) FILTER (WHERE field = 's_1') AS s_1,
    max(value) FILTER (WHERE field = 's_0') AS s_0
  FROM g_0
  WHERE field IN ('s_2', 's_1', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_52', 'd_63'))
    AND time >= TIMESTAMPTZ '2016-01-01 15:53:05.828+00'
    AND time < TIMESTAMPTZ '2016-01-01 15:57:15.828001+00'
  GROUP BY 1, 2
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
