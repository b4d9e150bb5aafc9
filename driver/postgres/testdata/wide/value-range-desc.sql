SELECT
  time,
  device,
  s_3,
  s_4
FROM g_0
WHERE device IN ('d_24', 'd_2')
  AND s_3 > -5
  AND s_4 > -5
  AND time >= TIMESTAMPTZ '2016-01-03 21:54:59.133+00'
  AND time < TIMESTAMPTZ '2016-01-03 21:59:09.133001+00'
ORDER BY 1 DESC, 2 DESC
