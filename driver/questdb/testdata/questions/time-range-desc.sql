SELECT
  timestamp,
  device,
  s_3,
  s_5
FROM g_0
WHERE device IN ('d_72', 'd_23')
  AND timestamp >= '2016-01-02T01:10:06.300000Z'
  AND timestamp < '2016-01-02T01:14:16.300001Z'
ORDER BY 1 DESC, 2 DESC
