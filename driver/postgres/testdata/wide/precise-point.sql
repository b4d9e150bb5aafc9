SELECT
  time,
  device,
  s_7,
  s_4
FROM g_0
WHERE device IN ('d_85', 'd_70')
  AND time = TIMESTAMPTZ '2016-01-03 17:22:20+00'
