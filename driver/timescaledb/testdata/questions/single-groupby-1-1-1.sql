SELECT
  time_bucket('60 seconds', time) AS time,
  max(usage_user) AS max_usage_user
FROM cpu
WHERE tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49'))
  AND time >= TIMESTAMPTZ '2016-01-03 12:26:46.646325+00'
  AND time < TIMESTAMPTZ '2016-01-03 13:26:46.646325+00'
GROUP BY 1
ORDER BY 1
