SELECT
  timestamp_floor('1m', timestamp) AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11')
  AND timestamp >= '2016-01-03T12:26:46.646325Z'
  AND timestamp < '2016-01-03T13:26:46.646325Z'
GROUP BY 1
ORDER BY 1
