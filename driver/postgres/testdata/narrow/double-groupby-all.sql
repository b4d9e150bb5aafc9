SELECT
  date_bin('3600 seconds', cpu.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
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
FROM (
  SELECT
    time,
    tags_id,
    CASE WHEN field = 'usage_user' THEN value END AS usage_user,
    CASE WHEN field = 'usage_system' THEN value END AS usage_system,
    CASE WHEN field = 'usage_idle' THEN value END AS usage_idle,
    CASE WHEN field = 'usage_nice' THEN value END AS usage_nice,
    CASE WHEN field = 'usage_iowait' THEN value END AS usage_iowait,
    CASE WHEN field = 'usage_irq' THEN value END AS usage_irq,
    CASE WHEN field = 'usage_softirq' THEN value END AS usage_softirq,
    CASE WHEN field = 'usage_steal' THEN value END AS usage_steal,
    CASE WHEN field = 'usage_guest' THEN value END AS usage_guest,
    CASE WHEN field = 'usage_guest_nice' THEN value END AS usage_guest_nice
  FROM cpu
  WHERE field IN ('usage_user', 'usage_system', 'usage_idle', 'usage_nice', 'usage_iowait', 'usage_irq', 'usage_softirq', 'usage_steal', 'usage_guest', 'usage_guest_nice')
    AND time >= TIMESTAMPTZ '2016-01-02 11:22:40.646325+00'
    AND time < TIMESTAMPTZ '2016-01-02 23:22:40.646325+00'
) AS cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags.hostname IS NOT NULL
GROUP BY 1, 2
ORDER BY 1, 2
