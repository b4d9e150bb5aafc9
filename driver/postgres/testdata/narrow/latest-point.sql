SELECT DISTINCT ON (tags.device)
  g_0.time,
  tags.device,
  g_0.s_4,
  g_0.s_1
FROM tags
CROSS JOIN LATERAL (
  SELECT *
  FROM (
    SELECT
      time,
      tags_id,
      max(value) FILTER (WHERE field = 's_4') AS s_4,
      max(value) FILTER (WHERE field = 's_1') AS s_1,
      max(value) FILTER (WHERE field = 's_0') AS s_0
    FROM g_0
    WHERE field IN ('s_4', 's_1', 's_0')
      AND g_0.tags_id = tags.id
      AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_24', 'd_4'))
    GROUP BY 1, 2
  ) AS g_0
  ORDER BY time DESC
  LIMIT 1
) AS g_0
ORDER BY tags.device, g_0.time DESC
