SELECT DISTINCT ON (tags.hostname)
  cpu.time,
  tags.hostname,
  cpu.usage_user,
  cpu.usage_system,
  cpu.usage_idle,
  cpu.usage_nice,
  cpu.usage_iowait,
  cpu.usage_irq,
  cpu.usage_softirq,
  cpu.usage_steal,
  cpu.usage_guest,
  cpu.usage_guest_nice
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
JOIN (
  SELECT tags_id, max(time) AS time
  FROM cpu
  GROUP BY 1
) AS newest ON newest.tags_id = cpu.tags_id AND newest.time = cpu.time
WHERE tags.hostname IS NOT NULL
ORDER BY tags.hostname, cpu.time DESC
