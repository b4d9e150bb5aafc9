SELECT
  g_0.time,
  tags.device,
  g_0.s_2,
  g_0.s_1
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_52', 'd_63')
  AND g_0.time >= TIMESTAMPTZ '2016-01-01 15:53:05.828+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-01 15:57:15.828001+00'
