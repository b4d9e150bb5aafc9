SELECT
  tags.device,
  count(g_0.s_0) AS count_s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_50')
  AND g_0.time >= TIMESTAMP '2016-01-02 13:46:26.593000'
  AND g_0.time < TIMESTAMP '2016-01-02 13:50:36.593001'
GROUP BY 1
