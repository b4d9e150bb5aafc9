-- Buckets: single-groupby-5-8-1 of cpu-only

SELECT
  timestamp_floor('1m', timestamp) AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11')
  AND timestamp >= '2016-01-03T12:26:46.646325Z'
  AND timestamp < '2016-01-03T13:26:46.646325Z'
GROUP BY 1
ORDER BY 1

-- Buckets: double-groupby-1 of cpu-only

SELECT
  timestamp_floor('1h', timestamp) AS time,
  hostname,
  avg(usage_user) AS mean_usage_user
FROM cpu
WHERE hostname IS NOT NULL
  AND timestamp >= '2016-01-02T11:22:40.646325Z'
  AND timestamp < '2016-01-02T23:22:40.646325Z'
GROUP BY 1, 2
ORDER BY 1, 2

-- Buckets: groupby-orderby-limit of cpu-only

SELECT
  timestamp_floor('1m', timestamp) AS time,
  max(usage_user) AS max_usage_user
FROM cpu
WHERE timestamp < '2016-01-03T13:26:46.646325Z'
GROUP BY 1
ORDER BY 1 DESC
LIMIT 5

-- Rows: high-cpu-1 of cpu-only

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

-- Last: lastpoint of cpu-only

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
WHERE hostname IS NOT NULL
LATEST ON timestamp PARTITION BY hostname

-- Last: last-loc of iot

SELECT
  timestamp,
  name,
  driver,
  longitude,
  latitude
FROM readings
WHERE fleet IN ('South')
  AND name IS NOT NULL
LATEST ON timestamp PARTITION BY name

-- Last: low-fuel of iot

SELECT timestamp, name, driver, fuel_state
FROM (
SELECT
  timestamp,
  name,
  driver,
  fuel_state
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
LATEST ON timestamp PARTITION BY name
) AS newest_rows
WHERE fuel_state < 0.1e0

-- Last: high-load of iot

SELECT timestamp, name, driver, current_load
FROM (
SELECT
  timestamp,
  name,
  driver,
  current_load,
  load_capacity AS divisor
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
LATEST ON timestamp PARTITION BY name
) AS newest_rows
WHERE current_load / divisor > 0.9e0

-- Means: stationary-trucks of iot

SELECT name, mean_velocity
FROM (
  SELECT
    name,
    avg(velocity) AS mean_velocity
  FROM readings
  WHERE fleet IN ('West')
    AND name IS NOT NULL
    AND timestamp >= '2016-01-02T12:00:49.646325Z'
    AND timestamp < '2016-01-02T12:10:49.646325Z'
  GROUP BY 1
) AS groups_of_rows
WHERE mean_velocity < 1e0

-- ActiveUnits: long-driving-sessions of iot

WITH buckets AS (
  SELECT
    name,
    timestamp_floor('10m', timestamp) AS bucket,
    CASE WHEN avg(velocity) > 1e0 THEN 1 ELSE 0 END AS active
  FROM readings
  WHERE fleet IN ('West')
    AND name IS NOT NULL
    AND velocity IS NOT NULL
    AND timestamp >= '2016-01-01T20:11:20.646325Z'
    AND timestamp < '2016-01-02T00:11:20.646325Z'
  GROUP BY 1, 2
)
SELECT name
FROM (
  SELECT name, count(*) AS condition_value
  FROM buckets
  WHERE active = 1
  GROUP BY 1
) AS units
WHERE condition_value > 22

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
    timestamp_floor('10m', timestamp) AS bucket,
    CASE WHEN avg(velocity) > 1e0 THEN 1 ELSE 0 END AS active
  FROM readings
  WHERE name IS NOT NULL
    AND velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT timestamp_floor('1d', bucket)) AS hours
FROM buckets
WHERE active = 1
GROUP BY 1

-- Sessions: avg-daily-driving-session of iot

WITH buckets AS (
  SELECT
    name,
    timestamp_floor('10m', timestamp) AS bucket,
    CASE WHEN avg(velocity) > 5e0 THEN 1 ELSE 0 END AS active
  FROM readings
  WHERE name IS NOT NULL
    AND velocity IS NOT NULL
  GROUP BY 1, 2
), changes AS (
  SELECT
    name,
    bucket,
    active,
    lag(active) OVER (PARTITION BY name ORDER BY bucket) AS before
  FROM buckets
), sessions AS (
  SELECT
    name,
    bucket AS start,
    active,
    lead(bucket) OVER (PARTITION BY name ORDER BY bucket) AS stop
  FROM changes
  WHERE active <> before AND before IS NOT NULL
)
SELECT
  timestamp_floor('1d', start) AS day,
  name,
  avg(datediff('u', start, stop) / 1e6) AS seconds
FROM sessions
WHERE active = 1 AND stop IS NOT NULL
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
    timestamp_floor('10m', timestamp) AS bucket,
    CASE WHEN avg(status) < 1e0 THEN 1 ELSE 0 END AS active
  FROM diagnostics
  WHERE fleet IS NOT NULL
    AND model IS NOT NULL
    AND name IS NOT NULL
    AND status IS NOT NULL
  GROUP BY 1, 2, 3, 4
)
SELECT
  timestamp_floor('1d', bucket) AS day,
  fleet,
  model,
  count(*) / 144e0 AS share
FROM buckets
WHERE active = 1
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3

-- Starts: breakdown-frequency of iot

WITH buckets AS (
  SELECT
    model,
    name,
    timestamp_floor('10m', timestamp) AS bucket,
    CASE WHEN avg(CASE WHEN status = 0 THEN 1e0 ELSE 0e0 END) >= 0.5e0 THEN 1 ELSE 0 END AS active
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
    lag(active) OVER (PARTITION BY model, name ORDER BY bucket) AS before
  FROM buckets
)
SELECT
  model,
  count(*) AS starts
FROM changes
WHERE active = 1 AND before = 0
GROUP BY 1

-- Rows: precise-point of iotdb

SELECT
  timestamp,
  device,
  s_7,
  s_4
FROM g_0
WHERE device IN ('d_85', 'd_70')
  AND timestamp = '2016-01-03T17:22:20.000000Z'

-- Rows: value-range of iotdb

SELECT
  timestamp,
  device,
  s_6,
  s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 > -5e0
  AND s_4 > -5
  AND timestamp >= '2016-01-02T20:47:38.298000Z'
  AND timestamp < '2016-01-02T20:51:48.298001Z'

-- AnyRows: value-range-limit of iotdb

SELECT
  timestamp,
  device,
  s_5,
  s_6
FROM g_0
WHERE device IN ('d_41', 'd_46')
  AND s_5 > -5e0
  AND s_6 > -5e0
  AND timestamp >= '2016-01-03T22:57:09.909000Z'
  AND timestamp < '2016-01-03T23:01:19.909001Z'
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
  AND timestamp >= '2016-01-02T15:26:38.690000Z'
  AND timestamp < '2016-01-02T15:30:48.690001Z'
GROUP BY 1

-- Buckets: group-by-time-desc of iotdb

SELECT
  timestamp_floor('20s', timestamp) AS time,
  device,
  max(s_4) AS max_s_4,
  max(s_2) AS max_s_2
FROM g_0
WHERE device IN ('d_67', 'd_0')
  AND timestamp >= '2016-01-03T00:26:42.561000Z'
  AND timestamp < '2016-01-03T00:30:52.561000Z'
GROUP BY 1, 2
ORDER BY 1 DESC, 2 DESC

-- RowSet: set-operation of iotdb

SELECT
  timestamp,
  device,
  s_5,
  s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND timestamp >= '2016-01-03T09:47:45.043000Z'
  AND timestamp < '2016-01-03T09:51:55.043001Z'
UNION
SELECT
  timestamp,
  device,
  s_5,
  s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND timestamp >= '2016-01-03T09:47:45.043000Z'
  AND timestamp < '2016-01-03T09:51:55.043001Z'

-- Rows: value-range of iotdb, with <

SELECT
  timestamp,
  device,
  s_6,
  s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 < -5e0
  AND s_4 < -5
  AND timestamp >= '2016-01-02T20:47:38.298000Z'
  AND timestamp < '2016-01-02T20:51:48.298001Z'

-- Rows: value-range of iotdb, with =

SELECT
  timestamp,
  device,
  s_6,
  s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 = -5e0
  AND s_4 = -5
  AND timestamp >= '2016-01-02T20:47:38.298000Z'
  AND timestamp < '2016-01-02T20:51:48.298001Z'

-- Buckets: double-groupby-1 of cpu-only, from the aggregate cpu_30m

SELECT
  timestamp_floor('1h', timestamp) AS time,
  hostname,
  sum(sum_usage_user) / sum(count_usage_user) AS mean_usage_user
FROM cpu_30m
WHERE hostname IS NOT NULL
  AND timestamp >= '2016-01-02T11:00:00.000000Z'
  AND timestamp < '2016-01-02T23:00:00.000000Z'
GROUP BY 1, 2
ORDER BY 1, 2

-- Buckets: cpu-max-all-1 of cpu-only, from the aggregate cpu_1h

SELECT
  timestamp AS time,
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
  AND timestamp >= '2016-01-01T11:00:00.000000Z'
  AND timestamp < '2016-01-01T19:00:00.000000Z'
GROUP BY 1
ORDER BY 1

-- Candles

SELECT
  timestamp_floor('1m', timestamp) AS time,
  symbol,
  first(price) AS open,
  max(price) AS high,
  min(price) AS low,
  last(price) AS close,
  sum(size * 1e0) AS volume
FROM trades
WHERE symbol IN ('ACME', 'O''B')
  AND timestamp >= '2024-01-05T14:30:00.000000Z'
  AND timestamp < '2024-01-05T21:00:00.000000Z'
GROUP BY 1, 2

-- Weighted

SELECT
  timestamp_floor('1m', timestamp) AS time,
  symbol,
  sum(price * size) / nullif(sum(size), 0) AS weighted_price
FROM trades
WHERE symbol IN ('ACME', 'O''B')
  AND timestamp >= '2024-01-05T14:30:00.000000Z'
  AND timestamp < '2024-01-05T21:00:00.000000Z'
GROUP BY 1, 2

-- AsOf

SELECT
  left_rows.timestamp,
  left_rows.symbol,
  left_rows.price,
  quotes.bid AS quotes_bid,
  quotes.ask AS quotes_ask
FROM (
  SELECT
    timestamp,
    symbol,
    price
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND timestamp >= '2024-01-05T14:30:00.000000Z'
    AND timestamp < '2024-01-05T21:00:00.000000Z'
) AS left_rows
ASOF JOIN quotes ON (symbol)

-- AsOf

SELECT
  left_rows.timestamp,
  left_rows.symbol,
  left_rows.price,
  quotes.bid AS quotes_bid,
  quotes.ask AS quotes_ask
FROM (
  SELECT
    timestamp,
    symbol,
    price
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND timestamp >= '2024-01-05T14:30:00.000000Z'
    AND timestamp < '2024-01-05T21:00:00.000000Z'
) AS left_rows
ASOF JOIN quotes ON (symbol) TOLERANCE 1500T

-- Around

SELECT
  left_rows.timestamp,
  left_rows.symbol,
  left_rows.price,
  avg(quotes.ask - quotes.bid) AS mean_ask_minus_bid
FROM (
  SELECT
    timestamp,
    symbol,
    price
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND timestamp >= '2024-01-05T14:30:00.000000Z'
    AND timestamp < '2024-01-05T21:00:00.000000Z'
) AS left_rows
WINDOW JOIN quotes ON (left_rows.symbol = quotes.symbol)
RANGE BETWEEN 1 seconds PRECEDING AND 250 milliseconds FOLLOWING EXCLUDE PREVAILING

-- Movers

SELECT symbol, closing / opening - 1 AS change
FROM (
  SELECT
    symbol,
    first(price) AS opening,
    last(price) AS closing
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND timestamp >= '2024-01-05T14:30:00.000000Z'
    AND timestamp < '2024-01-05T21:00:00.000000Z'
  GROUP BY 1
) AS ends
WHERE opening <> 0
ORDER BY 2 DESC, 1
LIMIT 10

-- Gaps

SELECT timestamp, symbol, until
FROM (
  SELECT
    timestamp,
    symbol,
    lead(timestamp) OVER (PARTITION BY symbol ORDER BY timestamp) AS until
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND timestamp >= '2024-01-05T14:30:00.000000Z'
    AND timestamp < '2024-01-05T21:00:00.000000Z'
) AS neighbors
WHERE until > dateadd('s', 30, timestamp)

-- Profile

SELECT
  datediff('u', timestamp_floor('1d', timestamp), timestamp_floor('5m', timestamp)) / 1e6 AS second_of_day,
  sum(size * 1e0) AS sum_size
FROM trades
WHERE symbol IN ('ACME', 'O''B')
  AND timestamp >= '2024-01-05T14:30:00.000000Z'
  AND timestamp < '2024-01-05T21:00:00.000000Z'
GROUP BY 1

-- Nth

SELECT timestamp, symbol, nth_time, nth_price
FROM (
  SELECT
    timestamp,
    symbol,
    condition,
    lead(timestamp, 10) OVER (PARTITION BY symbol ORDER BY timestamp) AS nth_time,
    lead(price, 10) OVER (PARTITION BY symbol ORDER BY timestamp) AS nth_price
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND timestamp >= '2024-01-05T14:30:00.000000Z'
    AND timestamp < '2024-01-05T21:00:00.000000Z'
) AS numbered
WHERE condition = 'opening'

