SELECT
  cpu.time - (cpu.time % 3600000000000 + 3600000000000) % 3600000000000 AS time,
  tags.hostname,
  avg(cpu.usage_user) AS mean_usage_user
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags.hostname IS NOT NULL
  AND cpu.time >= 1451733760646325000
  AND cpu.time < 1451776960646325000
GROUP BY 1, 2
ORDER BY 1, 2
