SELECT
  timestamp_floor('20s', timestamp) AS time,
  device,
  max(s_4) AS max_s_4,
  max(s_2) AS max_s_2
FROM g_0
WHERE device IN ('d_67', 'd_0')
  AND timestamp >= '2016-01-03T00:26:42.561000Z'
  AND timestamp < '2016-01-03T00:30:52.561000Z'
GROUP BY 1, 2
ORDER BY 1 DESC, 2 DESC
