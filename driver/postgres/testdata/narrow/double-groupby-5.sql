SELECT
  date_bin('3600 seconds', cpu.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  tags.hostname,
  avg(cpu.usage_user) AS mean_usage_user,
  avg(cpu.usage_system) AS mean_usage_system,
  avg(cpu.usage_idle) AS mean_usage_idle,
  avg(cpu.usage_nice) AS mean_usage_nice,
  avg(cpu.usage_iowait) AS mean_usage_iowait
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
    AND time >= TIMESTAMPTZ '2016-01-02 11:22:40.646325+00'
    AND time < TIMESTAMPTZ '2016-01-02 23:22:40.646325+00'
) AS cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags.hostname IS NOT NULL
GROUP BY 1, 2
ORDER BY 1, 2
