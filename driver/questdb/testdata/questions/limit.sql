SELECT
  timestamp,
  device,
  s_6,
  s_2
FROM g_0
LIMIT 100
