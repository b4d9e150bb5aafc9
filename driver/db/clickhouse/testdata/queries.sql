-- Buckets: single-groupby-5-8-1 of cpu-only

SELECT
  fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 60000000000), 'UTC') AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11')
  AND time >= toDateTime64('2016-01-03 12:26:46.646325', 9, 'UTC')
  AND time < toDateTime64('2016-01-03 13:26:46.646325', 9, 'UTC')
GROUP BY 1
ORDER BY 1

-- Buckets: double-groupby-1 of cpu-only

SELECT
  fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 3600000000000), 'UTC') AS time,
  hostname,
  avg(usage_user * 1e0) AS mean_usage_user
FROM cpu
WHERE hostname IS NOT NULL
  AND time >= toDateTime64('2016-01-02 11:22:40.646325', 9, 'UTC')
  AND time < toDateTime64('2016-01-02 23:22:40.646325', 9, 'UTC')
GROUP BY 1, 2
ORDER BY 1, 2

-- Buckets: groupby-orderby-limit of cpu-only

SELECT
  fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 60000000000), 'UTC') AS time,
  max(usage_user) AS max_usage_user
FROM cpu
WHERE time < toDateTime64('2016-01-03 13:26:46.646325', 9, 'UTC')
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
  AND time >= toDateTime64('2016-01-02 23:35:31.138978', 9, 'UTC')
  AND time < toDateTime64('2016-01-03 11:35:31.138978', 9, 'UTC')

-- Last: lastpoint of cpu-only

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
WHERE (hostname, time) IN (
  SELECT hostname, max(time)
  FROM cpu
  WHERE hostname IS NOT NULL
  GROUP BY 1
)
  AND hostname IS NOT NULL
LIMIT 1 BY hostname

-- Last: last-loc of iot

SELECT
  time,
  name,
  driver,
  longitude,
  latitude
FROM readings
WHERE (name, time) IN (
  SELECT name, max(time)
  FROM readings
  WHERE fleet IN ('South')
    AND name IS NOT NULL
  GROUP BY 1
)
  AND fleet IN ('South')
  AND name IS NOT NULL
LIMIT 1 BY name

-- Last: low-fuel of iot

SELECT time, name, driver, fuel_state
FROM (
SELECT
  time,
  name,
  driver,
  fuel_state
FROM diagnostics
WHERE (name, time) IN (
  SELECT name, max(time)
  FROM diagnostics
  WHERE fleet IN ('South')
    AND name IS NOT NULL
  GROUP BY 1
)
  AND fleet IN ('South')
  AND name IS NOT NULL
LIMIT 1 BY name
) AS newest_rows
WHERE fuel_state < 0.1e0

-- Last: high-load of iot

SELECT time, name, driver, current_load
FROM (
SELECT
  time,
  name,
  driver,
  current_load,
  load_capacity AS divisor
FROM diagnostics
WHERE (name, time) IN (
  SELECT name, max(time)
  FROM diagnostics
  WHERE fleet IN ('South')
    AND name IS NOT NULL
  GROUP BY 1
)
  AND fleet IN ('South')
  AND name IS NOT NULL
LIMIT 1 BY name
) AS newest_rows
WHERE current_load / divisor > 0.9e0

-- Means: stationary-trucks of iot

SELECT
  name,
  avg(velocity) AS mean_velocity
FROM readings
WHERE fleet IN ('West')
  AND name IS NOT NULL
  AND time >= toDateTime64('2016-01-02 12:00:49.646325', 9, 'UTC')
  AND time < toDateTime64('2016-01-02 12:10:49.646325', 9, 'UTC')
GROUP BY 1
HAVING avg(velocity) < 1e0

-- ActiveUnits: long-driving-sessions of iot

WITH buckets AS (
  SELECT
    name,
    fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 600000000000), 'UTC') AS bucket,
    avg(velocity) > 1e0 AS active
  FROM readings
  WHERE fleet IN ('West')
    AND name IS NOT NULL
    AND velocity IS NOT NULL
    AND time >= toDateTime64('2016-01-01 20:11:20.646325', 9, 'UTC')
    AND time < toDateTime64('2016-01-02 00:11:20.646325', 9, 'UTC')
  GROUP BY 1, 2
)
SELECT name
FROM buckets
WHERE active
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

-- ActiveHours: avg-daily-driving-duration of iot

WITH buckets AS (
  SELECT
    name,
    fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 600000000000), 'UTC') AS bucket,
    avg(velocity) > 1e0 AS active
  FROM readings
  WHERE name IS NOT NULL
    AND velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT fromUnixTimestamp64Nano(toUnixTimestamp64Nano(bucket) - positiveModulo(toUnixTimestamp64Nano(bucket), 86400000000000), 'UTC')) AS hours
FROM buckets
WHERE active
GROUP BY 1

-- Sessions: avg-daily-driving-session of iot

WITH buckets AS (
  SELECT
    name,
    fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 600000000000), 'UTC') AS bucket,
    avg(velocity) > 5e0 AS active
  FROM readings
  WHERE name IS NOT NULL
    AND velocity IS NOT NULL
  GROUP BY 1, 2
), changes AS (
  SELECT
    name,
    bucket,
    active,
    lagInFrame(toNullable(active)) OVER (PARTITION BY name ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS before
  FROM buckets
), sessions AS (
  SELECT
    name,
    bucket AS start,
    active,
    leadInFrame(toNullable(bucket)) OVER (PARTITION BY name ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS stop
  FROM changes
  WHERE active <> before
)
SELECT
  fromUnixTimestamp64Nano(toUnixTimestamp64Nano(start) - positiveModulo(toUnixTimestamp64Nano(start), 86400000000000), 'UTC') AS day,
  name,
  avg((toUnixTimestamp64Nano(stop) - toUnixTimestamp64Nano(start)) / 1e9) AS seconds
FROM sessions
WHERE active AND stop IS NOT NULL
GROUP BY 1, 2
ORDER BY 1, 2

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
) AS units
GROUP BY 1, 2, 3

-- ActiveShare: daily-activity of iot

WITH buckets AS (
  SELECT
    fleet,
    model,
    name,
    fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 600000000000), 'UTC') AS bucket,
    avg(status * 1e0) < 1e0 AS active
  FROM diagnostics
  WHERE fleet IS NOT NULL
    AND model IS NOT NULL
    AND name IS NOT NULL
    AND status IS NOT NULL
  GROUP BY 1, 2, 3, 4
)
SELECT
  fromUnixTimestamp64Nano(toUnixTimestamp64Nano(bucket) - positiveModulo(toUnixTimestamp64Nano(bucket), 86400000000000), 'UTC') AS day,
  fleet,
  model,
  count(*) / 144e0 AS share
FROM buckets
WHERE active
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3

-- Starts: breakdown-frequency of iot

WITH buckets AS (
  SELECT
    model,
    name,
    fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 600000000000), 'UTC') AS bucket,
    avg(CASE WHEN status = 0 THEN 1e0 ELSE 0e0 END) >= 0.5e0 AS active
  FROM diagnostics
  WHERE model IS NOT NULL
    AND name IS NOT NULL
    AND status IS NOT NULL
  GROUP BY 1, 2, 3
), changes AS (
  SELECT
    model,
    name,
    bucket,
    active,
    lagInFrame(toNullable(active)) OVER (PARTITION BY model, name ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS before
  FROM buckets
)
SELECT
  model,
  count(*) AS starts
FROM changes
WHERE active AND NOT before
GROUP BY 1

-- Rows: precise-point of iotdb

SELECT
  time,
  device,
  s_7,
  s_4
FROM g_0
WHERE device IN ('d_85', 'd_70')
  AND time >= toDateTime64('2016-01-03 17:22:20', 9, 'UTC')
  AND time < toDateTime64('2016-01-03 17:22:20.000001', 9, 'UTC')

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
  AND time >= toDateTime64('2016-01-02 20:47:38.298', 9, 'UTC')
  AND time < toDateTime64('2016-01-02 20:51:48.298001', 9, 'UTC')

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
  AND time >= toDateTime64('2016-01-03 22:57:09.909', 9, 'UTC')
  AND time < toDateTime64('2016-01-03 23:01:19.909001', 9, 'UTC')
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
  AND time >= toDateTime64('2016-01-02 15:26:38.69', 9, 'UTC')
  AND time < toDateTime64('2016-01-02 15:30:48.690001', 9, 'UTC')
GROUP BY 1

-- Buckets: group-by-time-desc of iotdb

SELECT
  fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 20000000000), 'UTC') AS time,
  device,
  max(s_4) AS max_s_4,
  max(s_2) AS max_s_2
FROM g_0
WHERE device IN ('d_67', 'd_0')
  AND time >= toDateTime64('2016-01-03 00:26:42.561', 9, 'UTC')
  AND time < toDateTime64('2016-01-03 00:30:52.561', 9, 'UTC')
GROUP BY 1, 2
ORDER BY 1 DESC, 2 DESC

-- RowSet: set-operation of iotdb

SELECT
  time,
  device,
  s_5,
  s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND time >= toDateTime64('2016-01-03 09:47:45.043', 9, 'UTC')
  AND time < toDateTime64('2016-01-03 09:51:55.043001', 9, 'UTC')
UNION
SELECT
  time,
  device,
  s_5,
  s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND time >= toDateTime64('2016-01-03 09:47:45.043', 9, 'UTC')
  AND time < toDateTime64('2016-01-03 09:51:55.043001', 9, 'UTC')

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
  AND time >= toDateTime64('2016-01-02 20:47:38.298', 9, 'UTC')
  AND time < toDateTime64('2016-01-02 20:51:48.298001', 9, 'UTC')

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
  AND time >= toDateTime64('2016-01-02 20:47:38.298', 9, 'UTC')
  AND time < toDateTime64('2016-01-02 20:51:48.298001', 9, 'UTC')

-- Buckets: double-groupby-1 of cpu-only, from the aggregate cpu_30m

SELECT
  fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 3600000000000), 'UTC') AS time,
  hostname,
  sum(sum_usage_user) / sum(count_usage_user) AS mean_usage_user
FROM cpu_30m
WHERE hostname IS NOT NULL
  AND time >= toDateTime64('2016-01-02 11:00:00', 9, 'UTC')
  AND time < toDateTime64('2016-01-02 23:00:00', 9, 'UTC')
GROUP BY 1, 2
ORDER BY 1, 2

-- Buckets: cpu-max-all-1 of cpu-only, from the aggregate cpu_1h

SELECT
  time AS time,
  max(max_usage_user) AS max_usage_user,
  max(max_usage_system) AS max_usage_system,
  max(max_usage_idle) AS max_usage_idle,
  max(max_usage_nice) AS max_usage_nice,
  max(max_usage_iowait) AS max_usage_iowait,
  max(max_usage_irq) AS max_usage_irq,
  max(max_usage_softirq) AS max_usage_softirq,
  max(max_usage_steal) AS max_usage_steal,
  max(max_usage_guest) AS max_usage_guest,
  max(max_usage_guest_nice) AS max_usage_guest_nice
FROM cpu_1h
WHERE hostname IN ('host_49')
  AND time >= toDateTime64('2016-01-01 11:00:00', 9, 'UTC')
  AND time < toDateTime64('2016-01-01 19:00:00', 9, 'UTC')
GROUP BY 1
ORDER BY 1

-- Candles

SELECT
  fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 60000000000), 'UTC') AS time,
  symbol,
  argMin(price, time) AS open,
  max(price) AS high,
  min(price) AS low,
  argMax(price, time) AS close,
  sum(size * 1e0) AS volume
FROM trades
WHERE symbol IN ('ACME', 'O\'B')
  AND time >= toDateTime64('2024-01-05 14:30:00', 9, 'UTC')
  AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
GROUP BY 1, 2

-- Weighted

SELECT
  fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) - positiveModulo(toUnixTimestamp64Nano(time), 60000000000), 'UTC') AS time,
  symbol,
  sum(price * 1e0 * size) / nullif(sum(size), 0) AS weighted_price
FROM trades
WHERE symbol IN ('ACME', 'O\'B')
  AND time >= toDateTime64('2024-01-05 14:30:00', 9, 'UTC')
  AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
GROUP BY 1, 2

-- AsOf

SELECT
  left_rows.time,
  left_rows.symbol,
  left_rows.price,
  right_rows.bid AS quotes_bid,
  right_rows.ask AS quotes_ask
FROM (
  SELECT
    time,
    symbol,
    price
  FROM trades
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= toDateTime64('2024-01-05 14:30:00', 9, 'UTC')
    AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
) AS left_rows
ASOF LEFT JOIN (
  SELECT time, symbol, bid, ask
  FROM quotes
  WHERE symbol IN ('ACME', 'O\'B')
    AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
) AS right_rows ON left_rows.symbol = right_rows.symbol AND right_rows.time <= left_rows.time
SETTINGS join_use_nulls = 1

-- AsOf

SELECT
  left_rows.time,
  left_rows.symbol,
  left_rows.price,
  CASE WHEN right_rows.time >= left_rows.time + toIntervalNanosecond(-1500000000) THEN right_rows.bid END AS quotes_bid,
  CASE WHEN right_rows.time >= left_rows.time + toIntervalNanosecond(-1500000000) THEN right_rows.ask END AS quotes_ask
FROM (
  SELECT
    time,
    symbol,
    price
  FROM trades
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= toDateTime64('2024-01-05 14:30:00', 9, 'UTC')
    AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
) AS left_rows
ASOF LEFT JOIN (
  SELECT time, symbol, bid, ask
  FROM quotes
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= toDateTime64('2024-01-05 14:29:58.5', 9, 'UTC')
    AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
) AS right_rows ON left_rows.symbol = right_rows.symbol AND right_rows.time <= left_rows.time
SETTINGS join_use_nulls = 1

-- Around

SELECT
  left_rows.time,
  left_rows.symbol,
  left_rows.price,
  avg(difference) AS mean_ask_minus_bid
FROM (
  SELECT
    time,
    symbol,
    price
  FROM trades
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= toDateTime64('2024-01-05 14:30:00', 9, 'UTC')
    AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
) AS left_rows
LEFT JOIN (
  SELECT time, symbol, ask * 1e0 - bid AS difference
  FROM quotes
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= toDateTime64('2024-01-05 14:29:59', 9, 'UTC')
    AND time < toDateTime64('2024-01-05 21:00:00.25', 9, 'UTC')
) AS right_rows ON left_rows.symbol = right_rows.symbol
  AND right_rows.time >= left_rows.time + toIntervalSecond(-1)
  AND right_rows.time <= left_rows.time + toIntervalNanosecond(250000000)
GROUP BY 1, 2, 3
SETTINGS join_use_nulls = 1

-- Movers

SELECT symbol, closing / opening - 1 AS change
FROM (
  SELECT
    symbol,
    argMin(price, time) * 1e0 AS opening,
    argMax(price, time) * 1e0 AS closing
  FROM trades
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= toDateTime64('2024-01-05 14:30:00', 9, 'UTC')
    AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
  GROUP BY 1
) AS ends
WHERE opening <> 0
ORDER BY 2 DESC, 1
LIMIT 10

-- Gaps

SELECT time, symbol, until
FROM (
  SELECT
    time,
    symbol,
    leadInFrame(toNullable(time)) OVER (PARTITION BY symbol ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS until
  FROM trades
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= toDateTime64('2024-01-05 14:30:00', 9, 'UTC')
    AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
) AS neighbors
WHERE until > time + toIntervalSecond(30)

-- Profile

SELECT
  intDiv(positiveModulo(toUnixTimestamp64Nano(time), 86400000000000), 300000000000) * 300 AS second_of_day,
  sum(size * 1e0) AS sum_size
FROM trades
WHERE symbol IN ('ACME', 'O\'B')
  AND time >= toDateTime64('2024-01-05 14:30:00', 9, 'UTC')
  AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
GROUP BY 1

-- Nth

SELECT time, symbol, nth_time, nth_price
FROM (
  SELECT
    time,
    symbol,
    condition,
    leadInFrame(toNullable(time), 10) OVER (PARTITION BY symbol ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS nth_time,
    leadInFrame(toNullable(price), 10) OVER (PARTITION BY symbol ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS nth_price
  FROM trades
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= toDateTime64('2024-01-05 14:30:00', 9, 'UTC')
    AND time < toDateTime64('2024-01-05 21:00:00', 9, 'UTC')
) AS numbered
WHERE condition = 'opening'

