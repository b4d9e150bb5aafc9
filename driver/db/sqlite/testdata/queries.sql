-- Buckets: single-groupby-5-8-1 of cpu-only

SELECT
  time - (time % 60000000000 + 60000000000) % 60000000000 AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11'))
  AND time >= 1451824006646325000
  AND time < 1451827606646325000
GROUP BY 1
ORDER BY 1

-- Buckets: double-groupby-1 of cpu-only

SELECT
  cpu.time - (cpu.time % 3600000000000 + 3600000000000) % 3600000000000 AS time,
  tags.hostname,
  avg(cpu.usage_user) AS mean_usage_user
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags.hostname IS NOT NULL
  AND cpu.time >= 1451733760646325000
  AND cpu.time < 1451776960646325000
GROUP BY 1, 2
ORDER BY 1, 2

-- Buckets: groupby-orderby-limit of cpu-only

SELECT
  time - (time % 60000000000 + 60000000000) % 60000000000 AS time,
  max(usage_user) AS max_usage_user
FROM cpu
WHERE time < 1451827606646325000
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
  AND cpu.time >= 1451777731138978000
  AND cpu.time < 1451820931138978000

-- Last: lastpoint of cpu-only

SELECT
  max(cpu.time) AS time,
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
JOIN cpu ON cpu.tags_id = tags.id AND cpu.time = (
  SELECT max(time)
  FROM cpu
  WHERE tags_id = tags.id
)
WHERE tags.hostname IS NOT NULL
GROUP BY tags.hostname

-- Last: last-loc of iot

SELECT
  max(readings.time) AS time,
  tags.name,
  tags.driver,
  readings.longitude,
  readings.latitude
FROM tags
JOIN readings ON readings.tags_id = tags.id AND readings.time = (
  SELECT max(time)
  FROM readings
  WHERE tags_id = tags.id
)
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
GROUP BY tags.name

-- Last: low-fuel of iot

SELECT time, name, driver, fuel_state
FROM (
SELECT
  max(diagnostics.time) AS time,
  tags.name,
  tags.driver,
  diagnostics.fuel_state
FROM tags
JOIN diagnostics ON diagnostics.tags_id = tags.id AND diagnostics.time = (
  SELECT max(time)
  FROM diagnostics
  WHERE tags_id = tags.id
)
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
GROUP BY tags.name
) AS newest_rows
WHERE fuel_state < 0.1e0

-- Last: high-load of iot

SELECT time, name, driver, current_load
FROM (
SELECT
  max(diagnostics.time) AS time,
  tags.name,
  tags.driver,
  diagnostics.current_load,
  tags.load_capacity AS divisor
FROM tags
JOIN diagnostics ON diagnostics.tags_id = tags.id AND diagnostics.time = (
  SELECT max(time)
  FROM diagnostics
  WHERE tags_id = tags.id
)
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
GROUP BY tags.name
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
  AND readings.time >= 1451736049646325000
  AND readings.time < 1451736649646325000
GROUP BY 1
HAVING avg(readings.velocity) < 1e0

-- ActiveUnits: long-driving-sessions of iot

WITH buckets AS (
  SELECT
    tags.name,
    readings.time - (readings.time % 600000000000 + 600000000000) % 600000000000 AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.fleet IN ('West')
    AND tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
    AND readings.time >= 1451679080646325000
    AND readings.time < 1451693480646325000
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
    readings.time - (readings.time % 600000000000 + 600000000000) % 600000000000 AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT bucket - (bucket % 86400000000000 + 86400000000000) % 86400000000000) AS hours
FROM buckets
WHERE active
GROUP BY 1

-- Sessions: avg-daily-driving-session of iot

WITH buckets AS (
  SELECT
    tags.name,
    readings.time - (readings.time % 600000000000 + 600000000000) % 600000000000 AS bucket,
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
  start - (start % 86400000000000 + 86400000000000) % 86400000000000 AS day,
  name,
  avg((stop - start) / 1e9) AS seconds
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
    diagnostics.time - (diagnostics.time % 600000000000 + 600000000000) % 600000000000 AS bucket,
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
  bucket - (bucket % 86400000000000 + 86400000000000) % 86400000000000 AS day,
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
    diagnostics.time - (diagnostics.time % 600000000000 + 600000000000) % 600000000000 AS bucket,
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
  AND g_0.time >= 1451841740000000000
  AND g_0.time < 1451841740000001000

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
  AND g_0.time >= 1451767658298000000
  AND g_0.time < 1451767908298001000

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
  AND g_0.time >= 1451861829909000000
  AND g_0.time < 1451862079909001000
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
  AND g_0.time >= 1451748398690000000
  AND g_0.time < 1451748648690001000
GROUP BY 1

-- Buckets: group-by-time-desc of iotdb

SELECT
  g_0.time - (g_0.time % 20000000000 + 20000000000) % 20000000000 AS time,
  tags.device,
  max(g_0.s_4) AS max_s_4,
  max(g_0.s_2) AS max_s_2
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_67', 'd_0')
  AND g_0.time >= 1451780802561000000
  AND g_0.time < 1451781052561000000
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
  AND g_0.time >= 1451814465043000000
  AND g_0.time < 1451814715043001000
UNION
SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_76', 'd_2')
  AND g_0.time >= 1451814465043000000
  AND g_0.time < 1451814715043001000

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
  AND g_0.time >= 1451767658298000000
  AND g_0.time < 1451767908298001000

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
  AND g_0.time >= 1451767658298000000
  AND g_0.time < 1451767908298001000

-- Buckets: double-groupby-1 of cpu-only, from the aggregate cpu_30m

SELECT
  cpu_30m.time - (cpu_30m.time % 3600000000000 + 3600000000000) % 3600000000000 AS time,
  tags.hostname,
  sum(cpu_30m.sum_usage_user) / sum(cpu_30m.count_usage_user) AS mean_usage_user
FROM cpu_30m
JOIN tags ON tags.id = cpu_30m.tags_id
WHERE tags.hostname IS NOT NULL
  AND cpu_30m.time >= 1451732400000000000
  AND cpu_30m.time < 1451775600000000000
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
WHERE tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49'))
  AND time >= 1451646000000000000
  AND time < 1451674800000000000
GROUP BY 1
ORDER BY 1

-- Candles

SELECT
  bucket AS time,
  symbol,
  max(CASE WHEN from_first = 1 THEN price END) AS open,
  max(price) AS high,
  min(price) AS low,
  max(CASE WHEN from_last = 1 THEN price END) AS close,
  sum(size * 1e0) AS volume
FROM (
  SELECT
    trades.time - (trades.time % 60000000000 + 60000000000) % 60000000000 AS bucket,
    tags.symbol,
    trades.price,
    trades.size,
    row_number() OVER (PARTITION BY trades.tags_id, trades.time - (trades.time % 60000000000 + 60000000000) % 60000000000 ORDER BY trades.time) AS from_first,
    row_number() OVER (PARTITION BY trades.tags_id, trades.time - (trades.time % 60000000000 + 60000000000) % 60000000000 ORDER BY trades.time DESC) AS from_last
  FROM trades
  JOIN tags ON tags.id = trades.tags_id
  WHERE tags.symbol IN ('ACME', 'O''B')
    AND trades.time >= 1704465000000000000
    AND trades.time < 1704488400000000000
) AS numbered
GROUP BY 1, 2

-- Weighted

SELECT
  trades.time - (trades.time % 60000000000 + 60000000000) % 60000000000 AS time,
  tags.symbol,
  sum(trades.price * trades.size) / nullif(sum(trades.size), 0) AS weighted_price
FROM trades
JOIN tags ON tags.id = trades.tags_id
WHERE tags.symbol IN ('ACME', 'O''B')
  AND trades.time >= 1704465000000000000
  AND trades.time < 1704488400000000000
GROUP BY 1, 2

-- AsOf

SELECT
  left_rows.time,
  left_rows.symbol,
  left_rows.price,
  quotes.bid AS quotes_bid,
  quotes.ask AS quotes_ask
FROM (
  SELECT
    trades.time,
    tags.symbol,
    trades.tags_id,
    trades.price
  FROM trades
  JOIN tags ON tags.id = trades.tags_id
  WHERE tags.symbol IN ('ACME', 'O''B')
    AND trades.time >= 1704465000000000000
    AND trades.time < 1704488400000000000
) AS left_rows
LEFT JOIN quotes ON left_rows.tags_id = quotes.tags_id AND quotes.time = (
  SELECT earlier.time
  FROM quotes AS earlier
  WHERE left_rows.tags_id = earlier.tags_id
    AND earlier.time <= left_rows.time
  ORDER BY earlier.time DESC
  LIMIT 1
)

-- AsOf

SELECT
  left_rows.time,
  left_rows.symbol,
  left_rows.price,
  quotes.bid AS quotes_bid,
  quotes.ask AS quotes_ask
FROM (
  SELECT
    trades.time,
    tags.symbol,
    trades.tags_id,
    trades.price
  FROM trades
  JOIN tags ON tags.id = trades.tags_id
  WHERE tags.symbol IN ('ACME', 'O''B')
    AND trades.time >= 1704465000000000000
    AND trades.time < 1704488400000000000
) AS left_rows
LEFT JOIN quotes ON left_rows.tags_id = quotes.tags_id AND quotes.time = (
  SELECT earlier.time
  FROM quotes AS earlier
  WHERE left_rows.tags_id = earlier.tags_id
    AND earlier.time <= left_rows.time
    AND earlier.time >= left_rows.time - 1500000000
  ORDER BY earlier.time DESC
  LIMIT 1
)

-- Around

SELECT
  left_rows.time,
  left_rows.symbol,
  left_rows.price,
  (
    SELECT avg(quotes.ask - quotes.bid)
    FROM quotes
    WHERE left_rows.tags_id = quotes.tags_id
      AND quotes.time >= left_rows.time - 1000000000
      AND quotes.time <= left_rows.time + 250000000
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
    AND trades.time >= 1704465000000000000
    AND trades.time < 1704488400000000000
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
      AND time >= 1704465000000000000
      AND time < 1704488400000000000
    ORDER BY time
    LIMIT 1
  )
  JOIN trades AS last_rows ON last_rows.tags_id = tags.id AND last_rows.time = (
    SELECT time
    FROM trades
    WHERE tags_id = tags.id
      AND time >= 1704465000000000000
      AND time < 1704488400000000000
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
    AND trades.time >= 1704465000000000000
    AND trades.time < 1704488400000000000
) AS neighbors
WHERE until > time + 30000000000

-- Profile

SELECT
  (time % 86400000000000 + 86400000000000) % 86400000000000 / 300000000000 * 300 AS second_of_day,
  sum(size * 1e0) AS sum_size
FROM trades
WHERE tags_id IN (SELECT id FROM tags WHERE symbol IN ('ACME', 'O''B'))
  AND time >= 1704465000000000000
  AND time < 1704488400000000000
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
    AND trades.time >= 1704465000000000000
    AND trades.time < 1704488400000000000
) AS numbered
WHERE condition = 'opening'

