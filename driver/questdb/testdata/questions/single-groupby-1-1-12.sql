SELECT
  timestamp_floor('1m', timestamp) AS time,
  max(usage_user) AS max_usage_user
FROM cpu
WHERE hostname IN ('host_49')
  AND timestamp >= '2016-01-02T11:22:40.646325Z'
  AND timestamp < '2016-01-02T23:22:40.646325Z'
GROUP BY 1
ORDER BY 1
