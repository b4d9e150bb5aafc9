SELECT
  g_0.time - (g_0.time % 20000000000 + 20000000000) % 20000000000 AS time,
  tags.device,
  count(g_0.s_3) AS count_s_3
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_16')
  AND g_0.time >= 1451704707612000000
  AND g_0.time < 1451704957612000000
GROUP BY 1, 2
