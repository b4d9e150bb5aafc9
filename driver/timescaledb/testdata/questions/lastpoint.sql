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
FROM tags
CROSS JOIN LATERAL (
  SELECT *
  FROM cpu
  WHERE cpu.tags_id = tags.id
  ORDER BY time DESC
  LIMIT 1
) AS cpu
WHERE tags.hostname IS NOT NULL
ORDER BY tags.hostname, cpu.time DESC
