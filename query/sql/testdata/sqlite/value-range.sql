SELECT
  g_0.time,
  tags.device,
  g_0.s_7
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_87')
  AND g_0.s_7 > -5e0
  AND g_0.time >= 1451762785652000000
  AND g_0.time < 1451763035652001000
