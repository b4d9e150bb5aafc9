SELECT
  g_0.time,
  tags.device,
  g_0.s_2
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_72')
  AND g_0.time >= 1451706812435000000
  AND g_0.time < 1451707062435001000
ORDER BY 1 DESC, 2 DESC
