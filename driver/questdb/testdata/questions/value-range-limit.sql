SELECT
  timestamp,
  device,
  s_5,
  s_6
FROM g_0
WHERE device IN ('d_41', 'd_46')
  AND s_5 > -5e0
  AND s_6 > -5e0
  AND timestamp >= '2016-01-03T22:57:09.909000Z'
  AND timestamp < '2016-01-03T23:01:19.909001Z'
LIMIT 100
