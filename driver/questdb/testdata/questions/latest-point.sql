SELECT
  timestamp,
  device,
  s_4,
  s_1
FROM g_0
WHERE device IN ('d_24', 'd_4')
LATEST ON timestamp PARTITION BY device
