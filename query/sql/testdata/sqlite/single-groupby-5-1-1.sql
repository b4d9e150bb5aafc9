SELECT
  time - (time % 60000000000 + 60000000000) % 60000000000 AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49'))
  AND time >= 1451824006646325000
  AND time < 1451827606646325000
GROUP BY 1
ORDER BY 1
