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
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags.hostname IN ('host_35')
  AND cpu.usage_user > 90
  AND cpu.time >= TIMESTAMPTZ '2016-01-02 23:35:31.138978+00'
  AND cpu.time < TIMESTAMPTZ '2016-01-03 11:35:31.138978+00'
