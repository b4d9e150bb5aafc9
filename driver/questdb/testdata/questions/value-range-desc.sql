SELECT
  timestamp,
  device,
  s_3,
  s_4
FROM g_0
WHERE device IN ('d_24', 'd_2')
  AND s_3 > -5
  AND s_4 > -5
  AND timestamp >= '2016-01-03T21:54:59.133000Z'
  AND timestamp < '2016-01-03T21:59:09.133001Z'
ORDER BY 1 DESC, 2 DESC
