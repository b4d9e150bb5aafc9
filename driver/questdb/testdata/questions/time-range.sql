SELECT
  timestamp,
  device,
  s_2,
  s_1
FROM g_0
WHERE device IN ('d_52', 'd_63')
  AND timestamp >= '2016-01-01T15:53:05.828000Z'
  AND timestamp < '2016-01-01T15:57:15.828001Z'
