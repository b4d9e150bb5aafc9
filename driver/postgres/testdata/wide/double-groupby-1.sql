SELECT
  date_bin('3600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  hostname,
  avg(usage_user) AS mean_usage_user
FROM cpu
WHERE hostname IS NOT NULL
  AND time >= TIMESTAMPTZ '2016-01-02 11:22:40.646325+00'
  AND time < TIMESTAMPTZ '2016-01-02 23:22:40.646325+00'
GROUP BY 1, 2
ORDER BY 1, 2
