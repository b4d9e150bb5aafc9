SELECT
  date_bin('60 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  max(usage_user) AS max_usage_user
FROM cpu
WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11')
  AND time >= TIMESTAMPTZ '2016-01-03 12:26:46.646325+00'
  AND time < TIMESTAMPTZ '2016-01-03 13:26:46.646325+00'
GROUP BY 1
ORDER BY 1
