SELECT
  time,
  device,
  s_2,
  s_1
FROM g_0
WHERE device IN ('d_52', 'd_63')
  AND time >= TIMESTAMPTZ '2016-01-01 15:53:05.828+00'
  AND time < TIMESTAMPTZ '2016-01-01 15:57:15.828001+00'
