SELECT
  g_0.time,
  tags.device,
  g_0.s_7,
  g_0.s_4
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_85', 'd_70')
  AND g_0.time = TIMESTAMPTZ '2016-01-03 17:22:20+00'
