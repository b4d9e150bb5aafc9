SELECT
  device,
  max(s_5) AS max_s_5,
  max(s_6) AS max_s_6
FROM g_0
WHERE device IN ('d_50', 'd_9')
  AND time >= TIMESTAMPTZ '2016-01-01 06:35:53.751+00'
  AND time < TIMESTAMPTZ '2016-01-01 06:40:03.751001+00'
GROUP BY 1
