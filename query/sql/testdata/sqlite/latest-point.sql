SELECT
  max(g_0.time) AS time,
  tags.device,
  g_0.s_0
FROM tags
JOIN g_0 ON g_0.tags_id = tags.id AND g_0.time = (
  SELECT max(time)
  FROM g_0
  WHERE tags_id = tags.id
)
WHERE tags.device IN ('d_24')
GROUP BY tags.device
