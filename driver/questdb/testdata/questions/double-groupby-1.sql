SELECT
  timestamp_floor('1h', timestamp) AS time,
  hostname,
  avg(usage_user) AS mean_usage_user
FROM cpu
WHERE hostname IS NOT NULL
  AND timestamp >= '2016-01-02T11:22:40.646325Z'
  AND timestamp < '2016-01-02T23:22:40.646325Z'
GROUP BY 1, 2
ORDER BY 1, 2
