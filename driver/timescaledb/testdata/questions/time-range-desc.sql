SELECT
  g_0.time,
  tags.device,
  g_0.s_3,
  g_0.s_5
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_72', 'd_23')
  AND g_0.time >= TIMESTAMPTZ '2016-01-02 01:10:06.3+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-02 01:14:16.300001+00'
ORDER BY 1 DESC, 2 DESC
