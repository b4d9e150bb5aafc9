SELECT
  max(cpu.time) AS time,
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
JOIN cpu ON cpu.tags_id = tags.id AND cpu.time = (
  SELECT max(time)
  FROM cpu
  WHERE tags_id = tags.id
)
WHERE tags.hostname IS NOT NULL
GROUP BY tags.hostname
