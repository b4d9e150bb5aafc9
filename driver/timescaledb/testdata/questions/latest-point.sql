SELECT DISTINCT ON (tags.device)
  g_0.time,
  tags.device,
  g_0.s_4,
  g_0.s_1
FROM tags
CROSS JOIN LATERAL (
  SELECT *
  FROM g_0
  WHERE g_0.tags_id = tags.id
  ORDER BY time DESC
  LIMIT 1
) AS g_0
WHERE tags.device IN ('d_24', 'd_4')
ORDER BY tags.device, g_0.time DESC
