SELECT
  g_0.time,
  tags.device,
  g_0.s_3,
  g_0.s_4
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_24', 'd_2')
  AND g_0.s_3 > -5
  AND g_0.s_4 > -5
  AND g_0.time >= TIMESTAMPTZ '2016-01-03 21:54:59.133+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-03 21:59:09.133001+00'
ORDER BY 1 DESC, 2 DESC
