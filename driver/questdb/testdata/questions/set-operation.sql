SELECT
  timestamp,
  device,
  s_5,
  s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND timestamp >= '2016-01-03T09:47:45.043000Z'
  AND timestamp < '2016-01-03T09:51:55.043001Z'
UNION
SELECT
  timestamp,
  device,
  s_5,
  s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND timestamp >= '2016-01-03T09:47:45.043000Z'
  AND timestamp < '2016-01-03T09:51:55.043001Z'
