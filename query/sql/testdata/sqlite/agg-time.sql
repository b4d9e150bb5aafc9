SELECT
  tags.device,
  count(g_0.s_0) AS count_s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_50')
  AND g_0.time >= 1451742386593000000
  AND g_0.time < 1451742636593001000
GROUP BY 1
