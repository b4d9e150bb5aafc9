SELECT DISTINCT ON (tags.device)
  g_0.time,
  tags.device,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
JOIN (
  SELECT tags_id, max(time) AS time
  FROM g_0
  WHERE tags_id IN (SELECT id FROM tags WHERE device IN ('d_24'))
  GROUP BY 1
) AS newest ON newest.tags_id = g_0.tags_id AND newest.time = g_0.time
WHERE tags.device IN ('d_24')
ORDER BY tags.device, g_0.time DESC
