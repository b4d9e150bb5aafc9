SELECT
  g_0.time,
  tags.device,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_76')
  AND g_0.time >= TIMESTAMP '2016-01-02 15:58:09.325000'
  AND g_0.time < TIMESTAMP '2016-01-02 16:02:19.325001'
UNION
SELECT
  g_0.time,
  tags.device,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_76')
  AND g_0.time >= TIMESTAMP '2016-01-02 15:58:09.325000'
  AND g_0.time < TIMESTAMP '2016-01-02 16:02:19.325001'
