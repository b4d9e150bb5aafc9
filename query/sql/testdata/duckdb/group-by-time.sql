SELECT
  time_bucket(INTERVAL '20 seconds', g_0.time) AS time,
  tags.device,
  count(g_0.s_3) AS count_s_3
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_16')
  AND g_0.time >= TIMESTAMP '2016-01-02 03:18:27.612000'
  AND g_0.time < TIMESTAMP '2016-01-02 03:22:37.612000'
GROUP BY 1, 2
