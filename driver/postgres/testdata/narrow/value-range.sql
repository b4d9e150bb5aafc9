SELECT
  g_0.time,
  tags.device,
  g_0.s_6,
  g_0.s_4
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 's_6') AS s_6,
    max(value) FILTER (WHERE field = 's_4') AS s_4,
    max(value) FILTER (WHERE field = 's_0') AS s_0
  FROM g_0
  WHERE field IN ('s_6', 's_4', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_87', 'd_77'))
    AND time >= TIMESTAMPTZ '2016-01-02 20:47:38.298+00'
    AND time < TIMESTAMPTZ '2016-01-02 20:51:48.298001+00'
  GROUP BY 1, 2
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE g_0.s_6 > -5e0
  AND g_0.s_4 > -5
