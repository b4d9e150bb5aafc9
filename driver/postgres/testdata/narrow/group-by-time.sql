SELECT
  date_bin('20 seconds', g_0.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  tags.device,
  max(g_0.s_4) AS max_s_4,
  max(g_0.s_2) AS max_s_2
FROM (
  SELECT
    time,
    tags_id,
    CASE WHEN field = 's_4' THEN value END AS s_4,
    CASE WHEN field = 's_2' THEN value END AS s_2,
    CASE WHEN field = 's_0' THEN value END AS s_0
  FROM g_0
  WHERE field IN ('s_4', 's_2', 's_0')
    AND tags_id IN (SELECT id FROM tags WHERE device IN ('d_16', 'd_32'))
    AND time >= TIMESTAMPTZ '2016-01-03 04:49:10.623+00'
    AND time < TIMESTAMPTZ '2016-01-03 04:53:20.623+00'
) AS g_0
JOIN tags ON tags.id = g_0.tags_id
GROUP BY 1, 2
