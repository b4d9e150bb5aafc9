SELECT
  g_0.time,
  tags.device,
  g_0.s_6,
  g_0.s_4
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_87', 'd_77')
  AND g_0.s_6 > -5e0
  AND g_0.s_4 > -5
  AND g_0.time >= TIMESTAMPTZ '2016-01-02 20:47:38.298+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-02 20:51:48.298001+00'
