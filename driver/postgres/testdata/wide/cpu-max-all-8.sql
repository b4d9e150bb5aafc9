SELECT
  date_bin('3600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait,
  max(usage_irq) AS max_usage_irq,
  max(usage_softirq) AS max_usage_softirq,
  max(usage_steal) AS max_usage_steal,
  max(usage_guest) AS max_usage_guest,
  max(usage_guest_nice) AS max_usage_guest_nice
FROM cpu
WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11')
  AND time >= TIMESTAMPTZ '2016-01-01 11:48:31.646325+00'
  AND time < TIMESTAMPTZ '2016-01-01 19:48:31.646325+00'
GROUP BY 1
ORDER BY 1
