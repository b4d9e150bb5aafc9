SELECT
  device,
  max(s_5) AS max_s_5,
  max(s_6) AS max_s_6
FROM g_0
WHERE device IN ('d_50', 'd_9')
  AND timestamp >= '2016-01-01T06:35:53.751000Z'
  AND timestamp < '2016-01-01T06:40:03.751001Z'
GROUP BY 1
