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
WHERE hostname IN ('host_35')
  AND usage_user > 90
  AND timestamp >= '2016-01-02T23:35:31.138978Z'
  AND timestamp < '2016-01-03T11:35:31.138978Z'
