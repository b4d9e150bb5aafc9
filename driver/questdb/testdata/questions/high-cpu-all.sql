SELECT
  timestamp,
  hostname,
  usage_user,
  usage_system,
  usage_idle,
  usage_nice,
  usage_iowait,
  usage_irq,
  usage_softirq,
  usage_steal,
  usage_guest,
  usage_guest_nice
FROM cpu
WHERE usage_user > 90
  AND timestamp >= '2016-01-02T11:22:40.646325Z'
  AND timestamp < '2016-01-02T23:22:40.646325Z'
