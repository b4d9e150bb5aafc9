SELECT
  timestamp,
  device,
  s_6,
  s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 > -5e0
  AND s_4 > -5
  AND timestamp >= '2016-01-02T20:47:38.298000Z'
  AND timestamp < '2016-01-02T20:51:48.298001Z'
