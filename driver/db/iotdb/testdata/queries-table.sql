-- Buckets: single-groupby-5-8-1 of cpu-only

SELECT
  date_bin(1m, time) AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11')
  AND time >= 1451824006647
  AND time < 1451827606647
GROUP BY 1
ORDER BY 1

-- Buckets: double-groupby-1 of cpu-only

SELECT
  date_bin(1h, time) AS time,
  hostname,
  avg(usage_user) AS mean_usage_user
FROM cpu
WHERE hostname IS NOT NULL
  AND time >= 1451733760647
  AND time < 1451776960647
GROUP BY 1, 2
HAVING count(*) > 0
ORDER BY 1, 2

-- Buckets: groupby-orderby-limit of cpu-only

SELECT
  date_bin(1m, time) AS time,
  max(usage_user) AS max_usage_user
FROM cpu
WHERE time < 1451827606647
GROUP BY 1
ORDER BY 1 DESC
LIMIT 5

-- Rows: high-cpu-1 of cpu-only

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
WHERE hostname IN ('host_35')
  AND usage_user > 90
  AND time >= 1451777731139
  AND time < 1451820931139

-- Last: lastpoint of cpu-only

SELECT
  last(time) AS time,
  hostname,
  last_by(usage_user, time) AS usage_user,
  last_by(usage_system, time) AS usage_system,
  last_by(usage_idle, time) AS usage_idle,
  last_by(usage_nice, time) AS usage_nice,
  last_by(usage_iowait, time) AS usage_iowait,
  last_by(usage_irq, time) AS usage_irq,
  last_by(usage_softirq, time) AS usage_softirq,
  last_by(usage_steal, time) AS usage_steal,
  last_by(usage_guest, time) AS usage_guest,
  last_by(usage_guest_nice, time) AS usage_guest_nice
FROM cpu
WHERE hostname IS NOT NULL
GROUP BY 2

-- Last: last-loc of iot

SELECT
  last(time) AS time,
  name,
  last_by(driver, time) AS driver,
  last_by(longitude, time) AS longitude,
  last_by(latitude, time) AS latitude
FROM readings
WHERE fleet IN ('South')
  AND name IS NOT NULL
GROUP BY 2

-- Last: low-fuel of iot

SELECT
  last(time) AS time,
  name,
  last_by(driver, time) AS driver,
  last_by(fuel_state, time) AS fuel_state
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
GROUP BY 2
HAVING last_by(fuel_state, time) < 0.1e0

-- Last: high-load of iot

SELECT
  last(time) AS time,
  name,
  last_by(driver, time) AS driver,
  last_by(current_load, time) AS current_load
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
GROUP BY 2
HAVING last_by(current_load, time) / last_by(load_capacity, time) > 0.9e0

-- Means: stationary-trucks of iot

SELECT
  name,
  avg(velocity) AS mean_velocity
FROM readings
WHERE fleet IN ('West')
  AND name IS NOT NULL
  AND time >= 1451736049647
  AND time < 1451736649647
GROUP BY 1
HAVING count(*) > 0 AND avg(velocity) < 1e0

-- ActiveUnits: long-driving-sessions of iot

SELECT name
FROM (
  SELECT
    name,
    date_bin(10m, time) AS bucket
  FROM readings
  WHERE fleet IN ('West')
    AND name IS NOT NULL
    AND velocity IS NOT NULL
    AND time >= 1451679080647
    AND time < 1451693480647
  GROUP BY 1, 2
  HAVING count(*) > 0 AND avg(velocity) > 1e0
) AS buckets
GROUP BY 1
HAVING count(*) > 22

-- Means: avg-vs-projected-fuel-consumption of iot

SELECT
  fleet,
  avg(fuel_consumption) AS mean_fuel_consumption,
  avg(nominal_fuel_consumption) AS mean_nominal_fuel_consumption
FROM readings
WHERE name IS NOT NULL
  AND nominal_fuel_consumption IS NOT NULL
  AND fleet IS NOT NULL
  AND velocity > 1e0
GROUP BY 1
HAVING count(*) > 0

-- ActiveHours: avg-daily-driving-duration of iot

SELECT name, avg(hours) AS hours
FROM (
  SELECT name, date_bin(1d, bucket) AS day, count(*) * 0.16666666666666666e0 AS hours
  FROM (
    SELECT
      name,
      date_bin(10m, time) AS bucket
    FROM readings
    WHERE name IS NOT NULL
      AND velocity IS NOT NULL
    GROUP BY 1, 2
    HAVING count(*) > 0 AND avg(velocity) > 1e0
  ) AS buckets
  GROUP BY 1, 2
) AS days
GROUP BY 1

-- Sessions: avg-daily-driving-session of iot

n/a: query avg-daily-driving-session: not supported: the table model of IoTDB 2.0.1 has no window functions, which look from a bucket to the one before it

-- UnitMeans: avg-load of iot

SELECT
  fleet,
  model,
  load_capacity,
  avg(mean_current_load) AS mean_current_load
FROM (
  SELECT
    fleet,
    model,
    load_capacity,
    avg(current_load) / load_capacity AS mean_current_load
  FROM diagnostics
  WHERE fleet IS NOT NULL
    AND model IS NOT NULL
    AND load_capacity IS NOT NULL
    AND name IS NOT NULL
  GROUP BY 1, 2, 3, name
  HAVING count(*) > 0
) AS units
GROUP BY 1, 2, 3

-- ActiveShare: daily-activity of iot

SELECT
  date_bin(1d, bucket) AS day,
  fleet,
  model,
  count(*) / 144e0 AS share
FROM (
  SELECT
    fleet,
    model,
    name,
    date_bin(10m, time) AS bucket
  FROM diagnostics
  WHERE fleet IS NOT NULL
    AND model IS NOT NULL
    AND name IS NOT NULL
    AND status IS NOT NULL
  GROUP BY 1, 2, 3, 4
  HAVING count(*) > 0 AND avg(status) < 1e0
) AS buckets
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3

-- Starts: breakdown-frequency of iot

n/a: query breakdown-frequency: not supported: the table model of IoTDB 2.0.1 has no window functions, which look from a bucket to the one before it

-- Rows: precise-point of iotdb

SELECT
  time,
  device,
  s_7,
  s_4
FROM g_0
WHERE device IN ('d_85', 'd_70')
  AND time = 1451841740000

-- Rows: value-range of iotdb

SELECT
  time,
  device,
  s_6,
  s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 > -5e0
  AND s_4 > -5
  AND time >= 1451767658298
  AND time < 1451767908299

-- AnyRows: value-range-limit of iotdb

SELECT
  time,
  device,
  s_5,
  s_6
FROM g_0
WHERE device IN ('d_41', 'd_46')
  AND s_5 > -5e0
  AND s_6 > -5e0
  AND time >= 1451861829909
  AND time < 1451862079910
LIMIT 100

-- Totals: agg-time-value of iotdb

SELECT
  device,
  max(s_7) AS max_s_7,
  max(s_3) AS max_s_3
FROM g_0
WHERE device IN ('d_93', 'd_19')
  AND s_7 > -5e0
  AND s_3 > -5
  AND time >= 1451748398690
  AND time < 1451748648691
GROUP BY 1
HAVING count(*) > 0

-- Buckets: group-by-time-desc of iotdb

SELECT
  date_bin(20s, time) AS time,
  device,
  max(s_4) AS max_s_4,
  max(s_2) AS max_s_2
FROM g_0
WHERE device IN ('d_67', 'd_0')
  AND time >= 1451780802561
  AND time < 1451781052561
GROUP BY 1, 2
HAVING count(*) > 0
ORDER BY 1 DESC, 2 DESC

-- RowSet: set-operation of iotdb

n/a: query set-operation: not supported: the table model of IoTDB 2.0.1 has no set operations

-- Rows: value-range of iotdb, with <

SELECT
  time,
  device,
  s_6,
  s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 < -5e0
  AND s_4 < -5
  AND time >= 1451767658298
  AND time < 1451767908299

-- Rows: value-range of iotdb, with =

SELECT
  time,
  device,
  s_6,
  s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 = -5e0
  AND s_4 = -5
  AND time >= 1451767658298
  AND time < 1451767908299

-- Buckets: double-groupby-1 of cpu-only, from the aggregate cpu_30m

n/a: not supported: the table model of IoTDB 2.0.1 has no INSERT of a query (Only support insert by values, error 701); model=tree has aggregates

-- Buckets: cpu-max-all-1 of cpu-only, from the aggregate cpu_1h

n/a: not supported: the table model of IoTDB 2.0.1 has no INSERT of a query (Only support insert by values, error 701); model=tree has aggregates

-- Candles

SELECT
  date_bin(1m, time) AS time,
  symbol,
  first_by(price, time) AS open,
  max(price) AS high,
  min(price) AS low,
  last_by(price, time) AS close,
  sum(size * 1e0) AS volume
FROM trades
WHERE symbol IN ('ACME', 'O''B')
  AND time >= 1704465000000
  AND time < 1704488400000
GROUP BY 1, 2
HAVING count(*) > 0

-- Weighted

n/a: not supported: weighted means: IoTDB 2.0.1 returned more rows than there are buckets and series

-- AsOf

n/a: query ticks: not supported: tsmark has no query of the table model of IoTDB 2.0.1 for as-of joins: it has no window functions

-- AsOf

n/a: query ticks: not supported: tsmark has no query of the table model of IoTDB 2.0.1 for as-of joins: it has no window functions

-- Around

n/a: query ticks: not supported: tsmark has no query of the table model of IoTDB 2.0.1 for window joins: it has no window functions

-- Movers

SELECT symbol, closing / opening - 1 AS change
FROM (
  SELECT
    symbol,
    first_by(price, time) AS opening,
    last_by(price, time) AS closing
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND time >= 1704465000000
    AND time < 1704488400000
  GROUP BY 1
) AS ends
WHERE opening <> 0
ORDER BY 2 DESC, 1
LIMIT 10

-- Gaps

n/a: query ticks: not supported: tsmark has no query of the table model of IoTDB 2.0.1 for gaps between rows: it has no window functions

-- Profile

SELECT
  (CAST(time AS INT64) % 86400000 + 86400000) % 86400000 / 300000 * 300 AS second_of_day,
  sum(size * 1e0) AS sum_size
FROM trades
WHERE symbol IN ('ACME', 'O''B')
  AND time >= 1704465000000
  AND time < 1704488400000
GROUP BY 1

-- Nth

n/a: query ticks: not supported: tsmark has no query of the table model of IoTDB 2.0.1 for rows after an event: it has no window functions

