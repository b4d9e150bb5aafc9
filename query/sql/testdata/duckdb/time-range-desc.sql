SELECT
  g_0.time,
  tags.device,
  g_0.s_2
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_72')
  AND g_0.time >= TIMESTAMP '2016-01-02 03:53:32.435000'
  AND g_0.time < TIMESTAMP '2016-01-02 03:57:42.435001'
ORDER BY 1 DESC, 2 DESC
