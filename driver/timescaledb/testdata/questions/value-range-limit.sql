SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_6
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_41', 'd_46')
  AND g_0.s_5 > -5e0
  AND g_0.s_6 > -5e0
  AND g_0.time >= TIMESTAMPTZ '2016-01-03 22:57:09.909+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-03 23:01:19.909001+00'
LIMIT 100
