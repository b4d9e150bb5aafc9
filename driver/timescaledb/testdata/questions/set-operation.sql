SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_76', 'd_2')
  AND g_0.time >= TIMESTAMPTZ '2016-01-03 09:47:45.043+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-03 09:51:55.043001+00'
UNION
SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_76', 'd_2')
  AND g_0.time >= TIMESTAMPTZ '2016-01-03 09:47:45.043+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-03 09:51:55.043001+00'
