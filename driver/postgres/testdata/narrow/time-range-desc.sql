SELECT
  g_0.time,
  tags.device,
  g_0.s_3,
  g_0.s_5
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 's_3') AS s_3,
    max(value) FILTER (WHERE field = 's_5') AS s_5,
    max(value) FILTER (WHERE field = 's_0') AS s_0
  FROM g_0
  WHERE field IN ('s_3', 's_5', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_72', 'd_23'))
    AND time >= TIMESTAMPTZ '2016-01-02 01:10:06.3+00'
    AND time < TIMESTAMPTZ '2016-01-02 01:14:16.300001+00'
  GROUP BY 1, 2
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
ORDER BY 1 DESC, 2 DESC
