SELECT
  g_0.time - (g_0.time % 20000000000 + 20000000000) % 20000000000 AS time,
  tags.device,
  count(g_0.s_0) AS count_s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_67')
  AND g_0.time >= 1451716734129000000
  AND g_0.time < 1451716984129000000
GROUP BY 1, 2
ORDER BY 1 DESC, 2 DESC
