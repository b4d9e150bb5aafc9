SELECT
  tags.device,
  count(g_0.s_2) AS count_s_2
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_8')
  AND g_0.s_2 > -5
GROUP BY 1
