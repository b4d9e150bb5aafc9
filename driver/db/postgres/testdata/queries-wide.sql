-- Buckets: single-groupby-5-8-1 of cpu-only

SELECT
  date_bin('60 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11')
  AND time >= TIMESTAMPTZ '2016-01-03 12:26:46.646325+00'
  AND time < TIMESTAMPTZ '2016-01-03 13:26:46.646325+00'
GROUP BY 1
ORDER BY 1

-- Buckets: double-groupby-1 of cpu-only

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

-- Buckets: groupby-orderby-limit of cpu-only

SELECT
  date_bin('60 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  max(usage_user) AS max_usage_user
FROM cpu
WHERE time < TIMESTAMPTZ '2016-01-03 13:26:46.646325+00'
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
  AND time >= TIMESTAMPTZ '2016-01-02 23:35:31.138978+00'
  AND time < TIMESTAMPTZ '2016-01-03 11:35:31.138978+00'

-- Last: lastpoint of cpu-only

SELECT DISTINCT ON (hostname)
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
WHERE hostname IS NOT NULL
ORDER BY hostname, time DESC

-- Last: last-loc of iot

SELECT DISTINCT ON (name)
  time,
  name,
  driver,
  longitude,
  latitude
FROM readings
WHERE fleet IN ('South')
  AND name IS NOT NULL
ORDER BY name, time DESC

-- Last: low-fuel of iot

SELECT time, name, driver, fuel_state
FROM (
SELECT DISTINCT ON (name)
  time,
  name,
  driver,
  fuel_state
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
ORDER BY name, time DESC
) AS newest_rows
WHERE fuel_state < 0.1e0

-- Last: high-load of iot

SELECT time, name, driver, current_load
FROM (
SELECT DISTINCT ON (name)
  time,
  name,
  driver,
  current_load,
  load_capacity AS divisor
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
ORDER BY name, time DESC
) AS newest_rows
WHERE current_load / divisor > 0.9e0

-- Means: stationary-trucks of iot

SELECT
  name,
  avg(velocity) AS mean_velocity
FROM readings
WHERE fleet IN ('West')
  AND name IS NOT NULL
  AND time >= TIMESTAMPTZ '2016-01-02 12:00:49.646325+00'
  AND time < TIMESTAMPTZ '2016-01-02 12:10:49.646325+00'
GROUP BY 1
HAVING avg(velocity) < 1e0

-- ActiveUnits: long-driving-sessions of iot

WITH buckets AS (
  SELECT
    name,
    date_bin('600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(velocity) > 1e0 AS active
  FROM readings
  WHERE fleet IN ('West')
    AND name IS NOT NULL
    AND velocity IS NOT NULL
    AND time >= TIMESTAMPTZ '2016-01-01 20:11:20.646325+00'
    AND time < TIMESTAMPTZ '2016-01-02 00:11:20.646325+00'
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
    date_bin('600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(velocity) > 1e0 AS active
  FROM readings
  WHERE name IS NOT NULL
    AND velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT date_bin('86400 seconds', bucket, TIMESTAMPTZ '1970-01-01 00:00:00+00')) AS hours
FROM buckets
WHERE active
GROUP BY 1

-- Sessions: avg-daily-driving-session of iot

WITH buckets AS (
  SELECT
    name,
    date_bin('600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
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
    lag(active) OVER (PARTITION BY name ORDER BY bucket) AS before
  FROM buckets
), sessions AS (
  SELECT
    name,
    bucket AS start,
    active,
    lead(bucket) OVER (PARTITION BY name ORDER BY bucket) AS stop
  FROM changes
  WHERE active <> before
)
SELECT
  date_bin('86400 seconds', start, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS day,
  name,
  avg(extract(epoch FROM stop - start)::double precision) AS seconds
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
    date_bin('600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(status) < 1e0 AS active
  FROM diagnostics
  WHERE fleet IS NOT NULL
    AND model IS NOT NULL
    AND name IS NOT NULL
    AND status IS NOT NULL
  GROUP BY 1, 2, 3, 4
)
SELECT
  date_bin('86400 seconds', bucket, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS day,
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
    date_bin('600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
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
    lag(active) OVER (PARTITION BY model, name ORDER BY bucket) AS before
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
  AND time = TIMESTAMPTZ '2016-01-03 17:22:20+00'

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
  AND time >= TIMESTAMPTZ '2016-01-02 20:47:38.298+00'
  AND time < TIMESTAMPTZ '2016-01-02 20:51:48.298001+00'

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
  AND time >= TIMESTAMPTZ '2016-01-03 22:57:09.909+00'
  AND time < TIMESTAMPTZ '2016-01-03 23:01:19.909001+00'
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
  AND time >= TIMESTAMPTZ '2016-01-02 15:26:38.69+00'
  AND time < TIMESTAMPTZ '2016-01-02 15:30:48.690001+00'
GROUP BY 1

-- Buckets: group-by-time-desc of iotdb

SELECT
  date_bin('20 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  device,
  max(s_4) AS max_s_4,
  max(s_2) AS max_s_2
FROM g_0
WHERE device IN ('d_67', 'd_0')
  AND time >= TIMESTAMPTZ '2016-01-03 00:26:42.561+00'
  AND time < TIMESTAMPTZ '2016-01-03 00:30:52.561+00'
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
  AND time >= TIMESTAMPTZ '2016-01-03 09:47:45.043+00'
  AND time < TIMESTAMPTZ '2016-01-03 09:51:55.043001+00'
UNION
SELECT
  time,
  device,
  s_5,
  s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND time >= TIMESTAMPTZ '2016-01-03 09:47:45.043+00'
  AND time < TIMESTAMPTZ '2016-01-03 09:51:55.043001+00'

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
  AND time >= TIMESTAMPTZ '2016-01-02 20:47:38.298+00'
  AND time < TIMESTAMPTZ '2016-01-02 20:51:48.298001+00'

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
  AND time >= TIMESTAMPTZ '2016-01-02 20:47:38.298+00'
  AND time < TIMESTAMPTZ '2016-01-02 20:51:48.298001+00'

-- Buckets: double-groupby-1 of cpu-only, from the aggregate cpu_30m

SELECT
  date_bin('3600 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  hostname,
  sum(sum_usage_user) / sum(count_usage_user) AS mean_usage_user
FROM cpu_30m
WHERE hostname IS NOT NULL
  AND time >= TIMESTAMPTZ '2016-01-02 11:00:00+00'
  AND time < TIMESTAMPTZ '2016-01-02 23:00:00+00'
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
  AND time >= TIMESTAMPTZ '2016-01-01 11:00:00+00'
  AND time < TIMESTAMPTZ '2016-01-01 19:00:00+00'
GROUP BY 1
ORDER BY 1

-- Candles

SELECT
  date_bin('60 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  symbol,
  (array_agg(price ORDER BY time))[1] AS open,
  max(price) AS high,
  min(price) AS low,
  (array_agg(price ORDER BY time DESC))[1] AS close,
  sum(size * 1e0) AS volume
FROM trades
WHERE symbol IN ('ACME', 'O''B')
  AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
  AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
GROUP BY 1, 2

-- Weighted

SELECT
  date_bin('60 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  symbol,
  sum(price * size) / nullif(sum(size), 0) AS weighted_price
FROM trades
WHERE symbol IN ('ACME', 'O''B')
  AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
  AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
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
  WHERE symbol IN ('ACME', 'O''B')
    AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
) AS left_rows
LEFT JOIN LATERAL (
  SELECT bid, ask
  FROM quotes
  WHERE left_rows.symbol = quotes.symbol
    AND quotes.time <= left_rows.time
  ORDER BY quotes.time DESC
  LIMIT 1
) AS right_rows ON true

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
  WHERE symbol IN ('ACME', 'O''B')
    AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
) AS left_rows
LEFT JOIN LATERAL (
  SELECT bid, ask
  FROM quotes
  WHERE left_rows.symbol = quotes.symbol
    AND quotes.time <= left_rows.time
    AND quotes.time >= left_rows.time - INTERVAL '1500000 microseconds'
  ORDER BY quotes.time DESC
  LIMIT 1
) AS right_rows ON true

-- Around

SELECT
  left_rows.time,
  left_rows.symbol,
  left_rows.price,
  (
    SELECT avg(quotes.ask - quotes.bid)
    FROM quotes
    WHERE left_rows.symbol = quotes.symbol
      AND quotes.time >= left_rows.time - INTERVAL '1 seconds'
      AND quotes.time <= left_rows.time + INTERVAL '250000 microseconds'
  ) AS mean_ask_minus_bid
FROM (
  SELECT
    time,
    symbol,
    price
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
) AS left_rows

-- Movers

SELECT symbol, closing / opening - 1 AS change
FROM (
  SELECT symbol, max(CASE WHEN from_first = 1 THEN price END) AS opening, max(CASE WHEN from_last = 1 THEN price END) AS closing
  FROM (
  SELECT
    symbol,
    price,
    row_number() OVER (PARTITION BY symbol ORDER BY time) AS from_first,
    row_number() OVER (PARTITION BY symbol ORDER BY time DESC) AS from_last
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
  ) AS numbered
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
    lead(time) OVER (PARTITION BY symbol ORDER BY time) AS until
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
) AS neighbors
WHERE until > time + INTERVAL '30 seconds'

-- Profile

SELECT
  extract(epoch FROM date_bin('300 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') - date_bin('86400 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00'))::double precision AS second_of_day,
  sum(size * 1e0) AS sum_size
FROM trades
WHERE symbol IN ('ACME', 'O''B')
  AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
  AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
GROUP BY 1

-- Nth

SELECT time, symbol, nth_time, nth_price
FROM (
  SELECT
    time,
    symbol,
    condition,
    lead(time, 10) OVER (PARTITION BY symbol ORDER BY time) AS nth_time,
    lead(price, 10) OVER (PARTITION BY symbol ORDER BY time) AS nth_price
  FROM trades
  WHERE symbol IN ('ACME', 'O''B')
    AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
) AS numbered
WHERE condition = 'opening'

