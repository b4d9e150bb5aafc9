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
    AND tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11', 'host_87', 'host_2', 'host_82', 'host_48', 'host_1', 'host_37', 'host_72', 'host_18', 'host_54', 'host_94', 'host_57', 'host_13', 'host_26', 'host_83', 'host_8', 'host_30', 'host_36', 'host_14', 'host_34', 'host_65', 'host_69', 'host_58', 'host_74', 'host_10'))
    AND time >= TIMESTAMPTZ '2016-01-01 09:39:14.646325+00'
    AND time < TIMESTAMPTZ '2016-01-02 09:39:14.646325+00'
) AS cpu
GROUP BY 1
ORDER BY 1
