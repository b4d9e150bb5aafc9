SELECT
  device,
  max(s_7) AS max_s_7,
  max(s_3) AS max_s_3
FROM g_0
WHERE device IN ('d_93', 'd_19')
  AND s_7 > -5e0
  AND s_3 > -5
  AND timestamp >= '2016-01-02T15:26:38.690000Z'
  AND timestamp < '2016-01-02T15:30:48.690001Z'
GROUP BY 1
