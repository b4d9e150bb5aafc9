SELECT
  tags.device,
  max(g_0.s_5) AS max_s_5,
  max(g_0.s_6) AS max_s_6
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_50', 'd_9')
  AND g_0.time >= TIMESTAMPTZ '2016-01-01 06:35:53.751+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-01 06:40:03.751001+00'
GROUP BY 1
