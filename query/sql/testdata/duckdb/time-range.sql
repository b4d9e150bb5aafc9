SELECT
  g_0.time,
  tags.device,
  g_0.s_6
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_52')
  AND g_0.time >= TIMESTAMP '2016-01-01 16:22:25.431000'
  AND g_0.time < TIMESTAMP '2016-01-01 16:26:35.431001'
