SELECT
  g_0.time,
  tags.device,
  g_0.s_5
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_41')
  AND g_0.s_5 > -5e0
  AND g_0.time >= 1451724643017000000
  AND g_0.time < 1451724893017001000
LIMIT 100
