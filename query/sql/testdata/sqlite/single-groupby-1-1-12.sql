SELECT
  time - (time % 60000000000 + 60000000000) % 60000000000 AS time,
  max(usage_user) AS max_usage_user
FROM cpu
WHERE tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49'))
  AND time >= 1451733760646325000
  AND time < 1451776960646325000
GROUP BY 1
ORDER BY 1
