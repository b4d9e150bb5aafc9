SELECT
  time,
  device,
  s_6,
  s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 > -5e0
  AND s_4 > -5
  AND time >= TIMESTAMPTZ '2016-01-02 20:47:38.298+00'
  AND time < TIMESTAMPTZ '2016-01-02 20:51:48.298001+00'
