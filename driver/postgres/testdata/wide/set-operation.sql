SELECT
  time,
  device,
  s_5,
  s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND time >= TIMESTAMPTZ '2016-01-03 09:47:45.043+00'
  AND time < TIMESTAMPTZ '2016-01-03 09:51:55.043001+00'
UNION
SELECT
  time,
  device,
  s_5,
  s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND time >= TIMESTAMPTZ '2016-01-03 09:47:45.043+00'
  AND time < TIMESTAMPTZ '2016-01-03 09:51:55.043001+00'
