SELECT
  time,
  device,
  s_5,
  s_6
FROM g_0
WHERE device IN ('d_41', 'd_46')
  AND s_5 > -5e0
  AND s_6 > -5e0
  AND time >= TIMESTAMPTZ '2016-01-03 22:57:09.909+00'
  AND time < TIMESTAMPTZ '2016-01-03 23:01:19.909001+00'
LIMIT 100
