SELECT
  g_0.time,
  tags.device,
  g_0.s_6,
  g_0.s_2
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
LIMIT 100
