SELECT
  date_bin('60 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM (
  SELECT
    time,
    tags_id,
    CASE WHEN field = 'usage_user' THEN value END AS usage_user,
    CASE WHEN field = 'usage_system' THEN value END AS usage_system,
    CASE WHEN field = 'usage_idle' THEN value END AS usage_idle,
    CASE WHEN field = 'usage_nice' THEN value END AS usage_nice,
    CASE WHEN field = 'usage_iowait' THEN value END AS usage_iowait
  FROM cpu
  WHERE field IN ('usage_user', 'usage_system', 'usage_idle', 'usage_nice', 'usage_iowait')
    AND tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49'))
    AND time >= TIMESTAMPTZ '2016-01-03 12:26:46.646325+00'
    AND time < TIMESTAMPTZ '2016-01-03 13:26:46.646325+00'
) AS cpu
GROUP BY 1
ORDER BY 1
