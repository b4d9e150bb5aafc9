SELECT
  device,
  max(s_7) AS max_s_7,
  max(s_3) AS max_s_3
FROM g_0
WHERE device IN ('d_8', 'd_13')
  AND s_7 > -5e0
  AND s_3 > -5
GROUP BY 1
