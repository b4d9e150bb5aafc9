SELECT
  time_bucket('20 seconds', g_0.time) AS time,
  tags.device,
  max(g_0.s_4) AS max_s_4,
  max(g_0.s_2) AS max_s_2
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_67', 'd_0')
  AND g_0.time >= TIMESTAMPTZ '2016-01-03 00:26:42.561+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-03 00:30:52.561+00'
GROUP BY 1, 2
ORDER BY 1 DESC, 2 DESC
