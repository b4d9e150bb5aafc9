SELECT
  g_0.time,
  tags.device,
  g_0.s_6
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_52')
  AND g_0.time >= 1451665345431000000
  AND g_0.time < 1451665595431001000
