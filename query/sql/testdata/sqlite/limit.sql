SELECT
  g_0.time,
  tags.device,
  g_0.s_6
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
LIMIT 100
