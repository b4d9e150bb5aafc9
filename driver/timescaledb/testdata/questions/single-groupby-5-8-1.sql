SELECT
  time_bucket('60 seconds', time) AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11'))
  AND time >= TIMESTAMPTZ '2016-01-03 12:26:46.646325+00'
  AND time < TIMESTAMPTZ '2016-01-03 13:26:46.646325+00'
GROUP BY 1
ORDER BY 1
