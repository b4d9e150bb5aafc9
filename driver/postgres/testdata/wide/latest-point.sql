SELECT DISTINCT ON (device)
  time,
  device,
  s_4,
  s_1
FROM g_0
WHERE device IN ('d_24', 'd_4')
ORDER BY device, time DESC
