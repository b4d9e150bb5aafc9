SELECT
  date_bin('3600 seconds', cpu.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  tags.hostname,
  avg(cpu.usage_user) AS mean_usage_user
FROM (
  SELECT
    time,
    tags_id,
    value AS usage_user
  FROM cpu
  WHERE field IN ('usage_user')
    AND time >= TIMESTAMPTZ '2016-01-02 11:22:40.646325+00'
    AND time < TIMESTAMPTZ '2016-01-02 23:22:40.646325+00'
) AS cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags.hostname IS NOT NULL
GROUP BY 1, 2
ORDER BY 1, 2
