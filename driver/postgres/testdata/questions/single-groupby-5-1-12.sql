SELECT
  date_bin('60 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49'))
  AND time >= TIMESTAMPTZ '2016-01-02 11:22:40.646325+00'
  AND time < TIMESTAMPTZ '2016-01-02 23:22:40.646325+00'
GROUP BY 1
ORDER BY 1
