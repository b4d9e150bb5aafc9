SELECT
  tags.device,
  count(g_0.s_3) AS count_s_3
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_93')
  AND g_0.s_3 > -5
  AND g_0.time >= 1451823691883000000
  AND g_0.time < 1451823941883001000
GROUP BY 1
