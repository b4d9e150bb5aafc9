SELECT
  time,
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
  AND time >= TIMESTAMPTZ '2016-01-02 11:22:40.646325+00'
  AND time < TIMESTAMPTZ '2016-01-02 23:22:40.646325+00'
