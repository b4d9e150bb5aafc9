SELECT
  date_bin('20 seconds', g_0.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  tags.device,
  max(g_0.s_4) AS max_s_4,
  max(g_0.s_2) AS max_s_2
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_16', 'd_32')
  AND g_0.time >= TIMESTAMPTZ '2016-01-03 04:49:10.623+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-03 04:53:20.623+00'
GROUP BY 1, 2
