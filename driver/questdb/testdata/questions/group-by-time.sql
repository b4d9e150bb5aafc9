SELECT
  timestamp_floor('20s', timestamp) AS time,
  device,
  max(s_4) AS max_s_4,
  max(s_2) AS max_s_2
FROM g_0
WHERE device IN ('d_16', 'd_32')
  AND timestamp >= '2016-01-03T04:49:10.623000Z'
  AND timestamp < '2016-01-03T04:53:20.623000Z'
GROUP BY 1, 2
