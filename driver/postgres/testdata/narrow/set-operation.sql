SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_0
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 's_5') AS s_5,
    max(value) FILTER (WHERE field = 's_0') AS s_0
  FROM g_0
  WHERE field IN ('s_5', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_76', 'd_2'))
    AND time >= TIMESTAMPTZ '2016-01-03 09:47:45.043+00'
    AND time < TIMESTAMPTZ '2016-01-03 09:51:55.043001+00'
  GROUP BY 1, 2
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
UNION
SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_0
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 's_5') AS s_5,
    max(value) FILTER (WHERE field = 's_0') AS s_0
  FROM g_0
  WHERE field IN ('s_5', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_76', 'd_2'))
    AND time >= TIMESTAMPTZ '2016-01-03 09:47:45.043+00'
    AND time < TIMESTAMPTZ '2016-01-03 09:51:55.043001+00'
  GROUP BY 1, 2
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
