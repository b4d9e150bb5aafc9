SELECT
  date_bin('20 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  device,
  max(s_4) AS max_s_4,
  max(s_2) AS max_s_2
FROM g_0
WHERE device IN ('d_16', 'd_32')
  AND time >= TIMESTAMPTZ '2016-01-03 04:49:10.623+00'
  AND time < TIMESTAMPTZ '2016-01-03 04:53:20.623+00'
GROUP BY 1, 2
