SELECT
  date_bin('20 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  device,
  max(s_4) AS max_s_4,
  max(s_2) AS max_s_2
FROM g_0
WHERE device IN ('d_67', 'd_0')
  AND time >= TIMESTAMPTZ '2016-01-03 00:26:42.561+00'
  AND time < TIMESTAMPTZ '2016-01-03 00:30:52.561+00'
GROUP BY 1, 2
ORDER BY 1 DESC, 2 DESC
