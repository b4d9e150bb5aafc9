SELECT
  tags.device,
  max(g_0.s_7) AS max_s_7,
  max(g_0.s_3) AS max_s_3
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 's_7') AS s_7,
    max(value) FILTER (WHERE field = 's_3') AS s_3,
    max(value) FILTER (WHERE field = 's_0') AS s_0
  FROM g_0
  WHERE field IN ('s_7', 's_3', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_93', 'd_19'))
    AND time >= TIMESTAMPTZ '2016-01-02 15:26:38.69+00'
    AND time < TIMESTAMPTZ '2016-01-02 15:30:48.690001+00'
  GROUP BY 1, 2
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE g_0.s_7 > -5e0
  AND g_0.s_3 > -5
GROUP BY 1
