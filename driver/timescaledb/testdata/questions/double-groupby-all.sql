SELECT
  time_bucket('3600 seconds', cpu.time) AS time,
  tags.hostname,
  avg(cpu.usage_user) AS mean_usage_user,
  avg(cpu.usage_system) AS mean_usage_system,
  avg(cpu.usage_idle) AS mean_usage_idle,
  avg(cpu.usage_nice) AS mean_usage_nice,
  avg(cpu.usage_iowait) AS mean_usage_iowait,
  avg(cpu.usage_irq) AS mean_usage_irq,
  avg(cpu.usage_softirq) AS mean_usage_softirq,
  avg(cpu.usage_steal) AS mean_usage_steal,
  avg(cpu.usage_guest) AS mean_usage_guest,
  avg(cpu.usage_guest_nice) AS mean_usage_guest_nice
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags.hostname IS NOT NULL
  AND cpu.time >= TIMESTAMPTZ '2016-01-02 11:22:40.646325+00'
  AND cpu.time < TIMESTAMPTZ '2016-01-02 23:22:40.646325+00'
GROUP BY 1, 2
ORDER BY 1, 2
