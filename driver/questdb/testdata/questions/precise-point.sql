SELECT
  timestamp,
  device,
  s_7,
  s_4
FROM g_0
WHERE device IN ('d_85', 'd_70')
  AND timestamp = '2016-01-03T17:22:20.000000Z'
