SELECT
  g_0.time,
  tags.device,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_76')
  AND g_0.time >= 1451750289325000000
  AND g_0.time < 1451750539325001000
UNION
SELECT
  g_0.time,
  tags.device,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_76')
  AND g_0.time >= 1451750289325000000
  AND g_0.time < 1451750539325001000
