SELECT
  tags.device,
  max(g_0.s_5) AS max_s_5,
  max(g_0.s_6) AS max_s_6
FROM (
  SELECT
    time,
    tags_id,
    CASE WHEN field = 's_5' THEN value END AS s_5,
    CASE WHEN field = 's_6' THEN value END AS s_6,
    CASE WHEN field = 's_0' THEN value END AS s_0
  FROM g_0
  WHERE field IN ('s_5', 's_6', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_50', 'd_9'))
    AND time >= TIMESTAMPTZ '2016-01-01 06:35:53.751+00'
    AND time < TIMESTAMPTZ '2016-01-01 06:40:03.751001+00'
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
GROUP BY 1
