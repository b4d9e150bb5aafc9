SELECT
  tags.device,
  max(g_0.s_7) AS max_s_7,
  max(g_0.s_3) AS max_s_3
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_93', 'd_19')
  AND g_0.s_7 > -5e0
  AND g_0.s_3 > -5
  AND g_0.time >= TIMESTAMPTZ '2016-01-02 15:26:38.69+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-02 15:30:48.690001+00'
GROUP BY 1
