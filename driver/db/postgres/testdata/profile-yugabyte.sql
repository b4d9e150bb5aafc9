-- Buckets: single-groupby-5-8-1 of cpu-only

SELECT
  date_bin('60 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11'))
  AND time >= TIMESTAMPTZ '2016-01-03 12:26:46.646325+00'
  AND time < TIMESTAMPTZ '2016-01-03 13:26:46.646325+00'
GROUP BY 1
ORDER BY 1

-- Buckets: double-groupby-1 of cpu-only

SELECT
  date_bin('3600 seconds', cpu.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  tags.hostname,
  avg(cpu.usage_user) AS mean_usage_user
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags.hostname IS NOT NULL
  AND cpu.time >= TIMESTAMPTZ '2016-01-02 11:22:40.646325+00'
  AND cpu.time < TIMESTAMPTZ '2016-01-02 23:22:40.646325+00'
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
  cpu.time,
  tags.hostname,
  cpu.usage_user,
  cpu.usage_system,
  cpu.usage_idle,
  cpu.usage_nice,
  cpu.usage_iowait,
  cpu.usage_irq,
  cpu.usage_softirq,
  cpu.usage_steal,
  cpu.usage_guest,
  cpu.usage_guest_nice
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags.hostname IN ('host_35')
  AND cpu.usage_user > 90
  AND cpu.time >= TIMESTAMPTZ '2016-01-02 23:35:31.138978+00'
  AND cpu.time < TIMESTAMPTZ '2016-01-03 11:35:31.138978+00'

-- Last: lastpoint of cpu-only

SELECT DISTINCT ON (tags.hostname)
  cpu.time,
  tags.hostname,
  cpu.usage_user,
  cpu.usage_system,
  cpu.usage_idle,
  cpu.usage_nice,
  cpu.usage_iowait,
  cpu.usage_irq,
  cpu.usage_softirq,
  cpu.usage_steal,
  cpu.usage_guest,
  cpu.usage_guest_nice
FROM tags
CROSS JOIN LATERAL (
  SELECT *
  FROM cpu
  WHERE cpu.tags_id = tags.id
  ORDER BY time DESC
  LIMIT 1
) AS cpu
WHERE tags.hostname IS NOT NULL
ORDER BY tags.hostname, cpu.time DESC

-- Last: last-loc of iot

SELECT DISTINCT ON (tags.name)
  readings.time,
  tags.name,
  tags.driver,
  readings.longitude,
  readings.latitude
FROM tags
CROSS JOIN LATERAL (
  SELECT *
  FROM readings
  WHERE readings.tags_id = tags.id
  ORDER BY time DESC
  LIMIT 1
) AS readings
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
ORDER BY tags.name, readings.time DESC

-- Last: low-fuel of iot

SELECT time, name, driver, fuel_state
FROM (
SELECT DISTINCT ON (tags.name)
  diagnostics.time,
  tags.name,
  tags.driver,
  diagnostics.fuel_state
FROM tags
CROSS JOIN LATERAL (
  SELECT *
  FROM diagnostics
  WHERE diagnostics.tags_id = tags.id
  ORDER BY time DESC
  LIMIT 1
) AS diagnostics
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
ORDER BY tags.name, diagnostics.time DESC
) AS newest_rows
WHERE fuel_state < 0.1e0

-- Last: high-load of iot

SELECT time, name, driver, current_load
FROM (
SELECT DISTINCT ON (tags.name)
  diagnostics.time,
  tags.name,
  tags.driver,
  diagnostics.current_load,
  tags.load_capacity AS divisor
FROM tags
CROSS JOIN LATERAL (
  SELECT *
  FROM diagnostics
  WHERE diagnostics.tags_id = tags.id
  ORDER BY time DESC
  LIMIT 1
) AS diagnostics
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
ORDER BY tags.name, diagnostics.time DESC
) AS newest_rows
WHERE current_load / divisor > 0.9e0

-- Means: stationary-trucks of iot

SELECT
  tags.name,
  avg(readings.velocity) AS mean_velocity
FROM readings
JOIN tags ON tags.id = readings.tags_id
WHERE tags.fleet IN ('West')
  AND tags.name IS NOT NULL
  AND readings.time >= TIMESTAMPTZ '2016-01-02 12:00:49.646325+00'
  AND readings.time < TIMESTAMPTZ '2016-01-02 12:10:49.646325+00'
GROUP BY 1
HAVING avg(readings.velocity) < 1e0

-- ActiveUnits: long-driving-sessions of iot

WITH buckets AS (
  SELECT
    tags.name,
    date_bin('600 seconds', readings.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.fleet IN ('West')
    AND tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
    AND readings.time >= TIMESTAMPTZ '2016-01-01 20:11:20.646325+00'
    AND readings.time < TIMESTAMPTZ '2016-01-02 00:11:20.646325+00'
  GROUP BY 1, 2
)
SELECT name
FROM buckets
WHERE active
GROUP BY 1
HAVING count(*) > 22

-- Means: avg-vs-projected-fuel-consumption of iot

SELECT
  tags.fleet,
  avg(readings.fuel_consumption) AS mean_fuel_consumption,
  avg(tags.nominal_fuel_consumption) AS mean_nominal_fuel_consumption
FROM readings
JOIN tags ON tags.id = readings.tags_id
WHERE tags.name IS NOT NULL
  AND tags.nominal_fuel_consumption IS NOT NULL
  AND tags.fleet IS NOT NULL
  AND readings.velocity > 1e0
GROUP BY 1

-- ActiveHours: avg-daily-driving-duration of iot

WITH buckets AS (
  SELECT
    tags.name,
    date_bin('600 seconds', readings.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
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
    tags.name,
    date_bin('600 seconds', readings.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(readings.velocity) > 5e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
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
    tags.fleet,
    tags.model,
    tags.load_capacity,
    avg(diagnostics.current_load) / tags.load_capacity AS mean_current_load
  FROM diagnostics
  JOIN tags ON tags.id = diagnostics.tags_id
  WHERE tags.fleet IS NOT NULL
    AND tags.model IS NOT NULL
    AND tags.load_capacity IS NOT NULL
    AND tags.name IS NOT NULL
  GROUP BY 1, 2, 3, tags.name
) AS units
GROUP BY 1, 2, 3

-- ActiveShare: daily-activity of iot

WITH buckets AS (
  SELECT
    tags.fleet,
    tags.model,
    tags.name,
    date_bin('600 seconds', diagnostics.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(diagnostics.status) < 1e0 AS active
  FROM diagnostics
  JOIN tags ON tags.id = diagnostics.tags_id
  WHERE tags.fleet IS NOT NULL
    AND tags.model IS NOT NULL
    AND tags.name IS NOT NULL
    AND diagnostics.status IS NOT NULL
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
    tags.model,
    tags.name,
    date_bin('600 seconds', diagnostics.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS bucket,
    avg(CASE WHEN diagnostics.status = 0 THEN 1e0 ELSE 0e0 END) >= 0.5e0 AS active
  FROM diagnostics
  JOIN tags ON tags.id = diagnostics.tags_id
  WHERE tags.model IS NOT NULL
    AND tags.name IS NOT NULL
    AND diagnostics.status IS NOT NULL
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
  g_0.time,
  tags.device,
  g_0.s_7,
  g_0.s_4
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_85', 'd_70')
  AND g_0.time = TIMESTAMPTZ '2016-01-03 17:22:20+00'

-- Rows: value-range of iotdb

SELECT
  g_0.time,
  tags.device,
  g_0.s_6,
  g_0.s_4
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_87', 'd_77')
  AND g_0.s_6 > -5e0
  AND g_0.s_4 > -5
  AND g_0.time >= TIMESTAMPTZ '2016-01-02 20:47:38.298+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-02 20:51:48.298001+00'

-- AnyRows: value-range-limit of iotdb

SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_6
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_41', 'd_46')
  AND g_0.s_5 > -5e0
  AND g_0.s_6 > -5e0
  AND g_0.time >= TIMESTAMPTZ '2016-01-03 22:57:09.909+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-03 23:01:19.909001+00'
LIMIT 100

-- Totals: agg-time-value of iotdb

SELECT
  tags.device,
  max(g_0.s_7) AS max_s_7,
  max(g_0.s_3) AS max_s_3
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_93', 'd_19')
  AND g_0.s_7 > -5e0
  AND g_0.s_3 > -5
  AND g_0.time >= TIMESTAMPTZ '2016-01-02 15:26:38.69+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-02 15:30:48.690001+00'
GROUP BY 1

-- Buckets: group-by-time-desc of iotdb

SELECT
  date_bin('20 seconds', g_0.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  tags.device,
  max(g_0.s_4) AS max_s_4,
  max(g_0.s_2) AS max_s_2
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_67', 'd_0')
  AND g_0.time >= TIMESTAMPTZ '2016-01-03 00:26:42.561+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-03 00:30:52.561+00'
GROUP BY 1, 2
ORDER BY 1 DESC, 2 DESC

-- RowSet: set-operation of iotdb

SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_76', 'd_2')
  AND g_0.time >= TIMESTAMPTZ '2016-01-03 09:47:45.043+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-03 09:51:55.043001+00'
UNION
SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_76', 'd_2')
  AND g_0.time >= TIMESTAMPTZ '2016-01-03 09:47:45.043+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-03 09:51:55.043001+00'

-- Rows: value-range of iotdb, with <

SELECT
  g_0.time,
  tags.device,
  g_0.s_6,
  g_0.s_4
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_87', 'd_77')
  AND g_0.s_6 < -5e0
  AND g_0.s_4 < -5
  AND g_0.time >= TIMESTAMPTZ '2016-01-02 20:47:38.298+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-02 20:51:48.298001+00'

-- Rows: value-range of iotdb, with =

SELECT
  g_0.time,
  tags.device,
  g_0.s_6,
  g_0.s_4
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_87', 'd_77')
  AND g_0.s_6 = -5e0
  AND g_0.s_4 = -5
  AND g_0.time >= TIMESTAMPTZ '2016-01-02 20:47:38.298+00'
  AND g_0.time < TIMESTAMPTZ '2016-01-02 20:51:48.298001+00'

-- Candles

SELECT
  date_bin('60 seconds', trades.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  tags.symbol,
  (array_agg(trades.price ORDER BY trades.time))[1] AS open,
  max(trades.price) AS high,
  min(trades.price) AS low,
  (array_agg(trades.price ORDER BY trades.time DESC))[1] AS close,
  sum(trades.size * 1e0) AS volume
FROM trades
JOIN tags ON tags.id = trades.tags_id
WHERE tags.symbol IN ('ACME', 'O''B')
  AND trades.time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
  AND trades.time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
GROUP BY 1, 2

-- Weighted

SELECT
  date_bin('60 seconds', trades.time, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS time,
  tags.symbol,
  sum(trades.price * trades.size) / nullif(sum(trades.size), 0) AS weighted_price
FROM trades
JOIN tags ON tags.id = trades.tags_id
WHERE tags.symbol IN ('ACME', 'O''B')
  AND trades.time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
  AND trades.time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
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
    trades.time,
    tags.symbol,
    trades.tags_id,
    trades.price
  FROM trades
  JOIN tags ON tags.id = trades.tags_id
  WHERE tags.symbol IN ('ACME', 'O''B')
    AND trades.time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND trades.time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
) AS left_rows
LEFT JOIN LATERAL (
  SELECT bid, ask
  FROM quotes
  WHERE left_rows.tags_id = quotes.tags_id
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
    trades.time,
    tags.symbol,
    trades.tags_id,
    trades.price
  FROM trades
  JOIN tags ON tags.id = trades.tags_id
  WHERE tags.symbol IN ('ACME', 'O''B')
    AND trades.time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND trades.time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
) AS left_rows
LEFT JOIN LATERAL (
  SELECT bid, ask
  FROM quotes
  WHERE left_rows.tags_id = quotes.tags_id
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
    WHERE left_rows.tags_id = quotes.tags_id
      AND quotes.time >= left_rows.time - INTERVAL '1 seconds'
      AND quotes.time <= left_rows.time + INTERVAL '250000 microseconds'
  ) AS mean_ask_minus_bid
FROM (
  SELECT
    trades.time,
    tags.symbol,
    trades.tags_id,
    trades.price
  FROM trades
  JOIN tags ON tags.id = trades.tags_id
  WHERE tags.symbol IN ('ACME', 'O''B')
    AND trades.time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND trades.time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
) AS left_rows

-- Movers

SELECT symbol, closing / opening - 1 AS change
FROM (
  SELECT
    tags.symbol,
    first_rows.price AS opening,
    last_rows.price AS closing
  FROM tags
  JOIN trades AS first_rows ON first_rows.tags_id = tags.id AND first_rows.time = (
    SELECT time
    FROM trades
    WHERE tags_id = tags.id
      AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
      AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
    ORDER BY time
    LIMIT 1
  )
  JOIN trades AS last_rows ON last_rows.tags_id = tags.id AND last_rows.time = (
    SELECT time
    FROM trades
    WHERE tags_id = tags.id
      AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
      AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
    ORDER BY time DESC
    LIMIT 1
  )
  WHERE tags.symbol IN ('ACME', 'O''B')
) AS ends
WHERE opening <> 0
ORDER BY 2 DESC, 1
LIMIT 10

-- Gaps

SELECT time, symbol, until
FROM (
  SELECT
    trades.time,
    tags.symbol,
    lead(trades.time) OVER (PARTITION BY trades.tags_id ORDER BY trades.time) AS until
  FROM trades
  JOIN tags ON tags.id = trades.tags_id
  WHERE tags.symbol IN ('ACME', 'O''B')
    AND trades.time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND trades.time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
) AS neighbors
WHERE until > time + INTERVAL '30 seconds'

-- Profile

SELECT
  extract(epoch FROM date_bin('300 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00') - date_bin('86400 seconds', time, TIMESTAMPTZ '1970-01-01 00:00:00+00'))::double precision AS second_of_day,
  sum(size * 1e0) AS sum_size
FROM trades
WHERE tags_id IN (SELECT id FROM tags WHERE symbol IN ('ACME', 'O''B'))
  AND time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
  AND time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
GROUP BY 1

-- Nth

SELECT time, symbol, nth_time, nth_price
FROM (
  SELECT
    trades.time,
    tags.symbol,
    trades.condition,
    lead(trades.time, 10) OVER (PARTITION BY trades.tags_id ORDER BY trades.time) AS nth_time,
    lead(trades.price, 10) OVER (PARTITION BY trades.tags_id ORDER BY trades.time) AS nth_price
  FROM trades
  JOIN tags ON tags.id = trades.tags_id
  WHERE tags.symbol IN ('ACME', 'O''B')
    AND trades.time >= TIMESTAMPTZ '2024-01-05 14:30:00+00'
    AND trades.time < TIMESTAMPTZ '2024-01-05 21:00:00+00'
) AS numbered
WHERE condition = 'opening'

