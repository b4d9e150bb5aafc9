SELECT
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
FROM (
  SELECT
    time,
    tags_id,
    max(value) FILTER (WHERE field = 'usage_user') AS usage_user,
    max(value) FILTER (WHERE field = 'usage_system') AS usage_system,
    max(value) FILTER (WHERE field = 'usage_idle') AS usage_idle,
    max(value) FILTER (WHERE field = 'usage_nice') AS usage_nice,
    max(value) FILTER (WHERE field = 'usage_iowait') AS usage_iowait,
    max(value) FILTER (WHERE field = 'usage_irq') AS usage_irq,
    max(value) FILTER (WHERE field = 'usage_softirq') AS usage_softirq,
    max(value) FILTER (WHERE field = 'usage_steal') AS usage_steal,
    max(value) FILTER (WHERE field = 'usage_guest') AS usage_guest,
    max(value) FILTER (WHERE field = 'usage_guest_nice') AS usage_guest_nice
  FROM cpu
  WHERE field IN ('usage_user', 'usage_system', 'usage_idle', 'usage_nice', 'usage_iowait', 'usage_irq', 'usage_softirq', 'usage_steal', 'usage_guest', 'usage_guest_nice')
    AND tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_35'))
    AND time >= TIMESTAMPTZ '2016-01-02 23:35:31.138978+00'
    AND time < TIMESTAMPTZ '2016-01-03 11:35:31.138978+00'
  GROUP BY 1, 2
) AS cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE cpu.usage_user > 90
