SELECT
  date_bin('3600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  hostname,
  avg(usage_user) AS mean_usage_user,
  avg(usage_system) AS mean_usage_system,
  avg(usage_idle) AS mean_usage_idle,
  avg(usage_nice) AS mean_usage_nice,
  avg(usage_iowait) AS mean_usage_iowait,
  avg(usage_irq) AS mean_usage_irq,
  avg(usage_softirq) AS mean_usage_softirq,
  avg(usage_steal) AS mean_usage_steal,
  avg(usage_guest) AS mean_usage_guest,
  avg(usage_guest_nice) AS mean_usage_guest_nice
FROM cpu
WHERE hostname IS NOT NULL
  AND time >= TIMESTAMPTZ '2016-01-02 11:22:40.646325+00'
  AND time < TIMESTAMPTZ '2016-01-02 23:22:40.646325+00'
GROUP BY 1, 2
ORDER BY 1, 2
