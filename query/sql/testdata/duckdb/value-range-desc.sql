SELECT
  g_0.time,
  tags.device,
  g_0.s_2
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_24')
  AND g_0.s_2 > -5
  AND g_0.time >= TIMESTAMP '2016-01-01 17:12:35.149000'
  AND g_0.time < TIMESTAMP '2016-01-01 17:16:45.149001'
ORDER BY 1 DESC, 2 DESC
