SELECT
  time_bucket(INTERVAL '20 seconds', g_0.time) AS time,
  tags.device,
  count(g_0.s_0) AS count_s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_67')
  AND g_0.time >= TIMESTAMP '2016-01-02 06:38:54.129000'
  AND g_0.time < TIMESTAMP '2016-01-02 06:43:04.129000'
GROUP BY 1, 2
ORDER BY 1 DESC, 2 DESC
