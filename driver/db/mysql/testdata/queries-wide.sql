-- Buckets: single-groupby-5-8-1 of cpu-only

SELECT
  time - (time % 60000000000 + 60000000000) % 60000000000 AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11')
  AND time >= 1451824006646325000
  AND time < 1451827606646325000
GROUP BY 1
ORDER BY 1

-- Buckets: double-groupby-1 of cpu-only

SELECT
  time - (time % 3600000000000 + 3600000000000) % 3600000000000 AS time,
  hostname,
  avg(usage_user * 1e0) AS mean_usage_user
FROM cpu
WHERE hostname IS NOT NULL
  AND time >= 1451733760646325000
  AND time < 1451776960646325000
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
  AND time >= 1451777731138978000
  AND time < 1451820931138978000

-- Last: lastpoint of cpu-only

SELECT time, hostname, usage_user, usage_system, usage_idle, usage_nice, usage_iowait, usage_irq, usage_softirq, usage_steal, usage_guest, usage_guest_nice
FROM (
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
  usage_guest_nice,
  row_number() OVER (PARTITION BY hostname ORDER BY time DESC) AS newest
FROM cpu
JOIN (
  SELECT hostname AS newest_tag, max(time) AS newest_time
  FROM cpu
  WHERE hostname IS NOT NULL
  GROUP BY 1
) AS newest ON newest_tag = hostname AND newest_time = time
WHERE hostname IS NOT NULL
) AS newest_rows
WHERE newest = 1

-- Last: last-loc of iot

SELECT time, name, driver, longitude, latitude
FROM (
SELECT
  time,
  name,
  driver,
  longitude,
  latitude,
  row_number() OVER (PARTITION BY name ORDER BY time DESC) AS newest
FROM readings
JOIN (
  SELECT name AS newest_tag, max(time) AS newest_time
  FROM readings
  WHERE fleet IN ('South')
    AND name IS NOT NULL
  GROUP BY 1
) AS newest ON newest_tag = name AND newest_time = time
WHERE fleet IN ('South')
  AND name IS NOT NULL
) AS newest_rows
WHERE newest = 1

-- Last: low-fuel of iot

SELECT time, name, driver, fuel_state
FROM (
SELECT
  time,
  name,
  driver,
  fuel_state,
  row_number() OVER (PARTITION BY name ORDER BY time DESC) AS newest
FROM diagnostics
JOIN (
  SELECT name AS newest_tag, max(time) AS newest_time
  FROM diagnostics
  WHERE fleet IN ('South')
    AND name IS NOT NULL
  GROUP BY 1
) AS newest ON newest_tag = name AND newest_time = time
WHERE fleet IN ('South')
  AND name IS NOT NULL
) AS newest_rows
WHERE newest = 1
  AND fuel_state < 0.1e0

-- Last: high-load of iot

SELECT time, name, driver, current_load
FROM (
SELECT
  time,
  name,
  driver,
  current_load,
  load_capacity AS divisor,
  row_number() OVER (PARTITION BY name ORDER BY time DESC) AS newest
FROM diagnostics
JOIN (
  SELECT name AS newest_tag, max(time) AS newest_time
  FROM diagnostics
  WHERE fleet IN ('South')
    AND name IS NOT NULL
  GROUP BY 1
) AS newest ON newest_tag = name AND newest_time = time
WHERE fleet IN ('South')
  AND name IS NOT NULL
) AS newest_rows
WHERE newest = 1
  AND current_load / divisor > 0.9e0

-- Means: stationary-trucks of iot

SELECT
  name,
  avg(velocity) AS mean_velocity
FROM readings
WHERE fleet IN ('West')
  AND name IS NOT NULL
  AND time >= 1451736049646325000
  AND time < 1451736649646325000
GROUP BY 1
HAVING avg(velocity) < 1e0

-- ActiveUnits: long-driving-sessions of iot

WITH buckets AS (
  SELECT
    name,
    time - (time % 600000000000 + 600000000000) % 600000000000 AS bucket,
    avg(velocity) > 1e0 AS active
  FROM readings
  WHERE fleet IN ('West')
    AND name IS NOT NULL
    AND velocity IS NOT NULL
    AND time >= 1451679080646325000
    AND time < 1451693480646325000
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
    time - (time % 600000000000 + 600000000000) % 600000000000 AS bucket,
    avg(velocity) > 1e0 AS active
  FROM readings
  WHERE name IS NOT NULL
    AND velocity IS NOT NULL
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
    name,
    time - (time % 600000000000 + 600000000000) % 600000000000 AS bucket,
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
    lag(active) OVER (PARTITION BY name ORDER BY bucket) AS `before`
  FROM buckets
), sessions AS (
  SELECT
    name,
    bucket AS start,
    active,
    lead(bucket) OVER (PARTITION BY name ORDER BY bucket) AS stop
  FROM changes
  WHERE active <> `before`
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
    time - (time % 600000000000 + 600000000000) % 600000000000 AS bucket,
    avg(status * 1e0) < 1e0 AS active
  FROM diagnostics
  WHERE fleet IS NOT NULL
    AND model IS NOT NULL
    AND name IS NOT NULL
    AND status IS NOT NULL
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
    model,
    name,
    time - (time % 600000000000 + 600000000000) % 600000000000 AS bucket,
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
    lag(active) OVER (PARTITION BY model, name ORDER BY bucket) AS `before`
  FROM buckets
)
SELECT
  model,
  count(*) AS starts
FROM changes
WHERE active AND NOT `before`
GROUP BY 1

-- Rows: precise-point of iotdb

SELECT
  time,
  device,
  s_7,
  s_4
FROM g_0
WHERE device IN ('d_85', 'd_70')
  AND time >= 1451841740000000000
  AND time < 1451841740000001000

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
  AND time >= 1451767658298000000
  AND time < 1451767908298001000

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
  AND time >= 1451861829909000000
  AND time < 1451862079909001000
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
  AND time >= 1451748398690000000
  AND time < 1451748648690001000
GROUP BY 1

-- Buckets: group-by-time-desc of iotdb

SELECT
  time - (time % 20000000000 + 20000000000) % 20000000000 AS time,
  device,
  max(s_4) AS max_s_4,
  max(s_2) AS max_s_2
FROM g_0
WHERE device IN ('d_67', 'd_0')
  AND time >= 1451780802561000000
  AND time < 1451781052561000000
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
  AND time >= 1451814465043000000
  AND time < 1451814715043001000
UNION
SELECT
  time,
  device,
  s_5,
  s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND time >= 1451814465043000000
  AND time < 1451814715043001000

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
  AND time >= 1451767658298000000
  AND time < 1451767908298001000

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
  AND time >= 1451767658298000000
  AND time < 1451767908298001000

-- Buckets: double-groupby-1 of cpu-only, from the aggregate cpu_30m

SELECT
  time - (time % 3600000000000 + 3600000000000) % 3600000000000 AS time,
  hostname,
  sum(sum_usage_user) / sum(count_usage_user) AS mean_usage_user
FROM cpu_30m
WHERE hostname IS NOT NULL
  AND time >= 1451732400000000000
  AND time < 1451775600000000000
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
    time - (time % 60000000000 + 60000000000) % 60000000000 AS bucket,
    symbol,
    price,
    size,
    row_number() OVER (PARTITION BY symbol, time - (time % 60000000000 + 60000000000) % 60000000000 ORDER BY time) AS from_first,
    row_number() OVER (PARTITION BY symbol, time - (time % 60000000000 + 60000000000) % 60000000000 ORDER BY time DESC) AS from_last
  FROM trades
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= 1704465000000000000
    AND time < 1704488400000000000
) AS numbered
GROUP BY 1, 2

-- Weighted

SELECT
  time - (time % 60000000000 + 60000000000) % 60000000000 AS time,
  symbol,
  sum(price * 1e0 * size) / nullif(sum(size), 0) AS weighted_price
FROM trades
WHERE symbol IN ('ACME', 'O\'B')
  AND time >= 1704465000000000000
  AND time < 1704488400000000000
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
    time,
    symbol,
    price,
    joined,
    max(other_time) OVER (PARTITION BY symbol ORDER BY time, joined) AS newest_time
  FROM (
    SELECT
      time,
      symbol,
      price,
      1 AS joined,
      CASE WHEN 1 = 0 THEN time END AS other_time
    FROM trades
    WHERE symbol IN ('ACME', 'O\'B')
      AND time >= 1704465000000000000
      AND time < 1704488400000000000
    UNION ALL
    SELECT
      time,
      symbol,
      NULL AS price,
      0 AS joined,
      time AS other_time
    FROM quotes
    WHERE symbol IN ('ACME', 'O\'B')
      AND time < 1704488400000000000
  ) AS both_tables
) AS left_rows
LEFT JOIN quotes ON left_rows.symbol = quotes.symbol AND quotes.time = newest_time
WHERE joined = 1

-- AsOf

SELECT
  left_rows.time,
  left_rows.symbol,
  left_rows.price,
  quotes.bid AS quotes_bid,
  quotes.ask AS quotes_ask
FROM (
  SELECT
    time,
    symbol,
    price,
    joined,
    max(other_time) OVER (PARTITION BY symbol ORDER BY time, joined) AS newest_time
  FROM (
    SELECT
      time,
      symbol,
      price,
      1 AS joined,
      CASE WHEN 1 = 0 THEN time END AS other_time
    FROM trades
    WHERE symbol IN ('ACME', 'O\'B')
      AND time >= 1704465000000000000
      AND time < 1704488400000000000
    UNION ALL
    SELECT
      time,
      symbol,
      NULL AS price,
      0 AS joined,
      time AS other_time
    FROM quotes
    WHERE symbol IN ('ACME', 'O\'B')
      AND time >= 1704464998500000000
      AND time < 1704488400000000000
  ) AS both_tables
) AS left_rows
LEFT JOIN quotes ON left_rows.symbol = quotes.symbol AND quotes.time = newest_time
  AND newest_time >= left_rows.time - 1500000000
WHERE joined = 1

-- Around

SELECT time, symbol, price, mean_ask_minus_bid
FROM (
  SELECT
    time,
    symbol,
    price,
    joined,
    avg(difference) OVER (PARTITION BY symbol ORDER BY time RANGE BETWEEN 1000000000 PRECEDING AND 250000000 FOLLOWING) AS mean_ask_minus_bid
  FROM (
    SELECT
      time,
      symbol,
      price,
      1 AS joined,
      CASE WHEN 1 = 0 THEN 0e0 END AS difference
    FROM trades
    WHERE symbol IN ('ACME', 'O\'B')
      AND time >= 1704465000000000000
      AND time < 1704488400000000000
    UNION ALL
    SELECT
      time,
      symbol,
      NULL AS price,
      0 AS joined,
      ask * 1e0 - bid AS difference
    FROM quotes
    WHERE symbol IN ('ACME', 'O\'B')
      AND time >= 1704464999000000000
      AND time < 1704488400250000000
  ) AS both_tables
) AS windows
WHERE joined = 1

-- Movers

SELECT symbol, closing / opening - 1 AS `change`
FROM (
  SELECT symbol, max(CASE WHEN from_first = 1 THEN price END) * 1e0 AS opening, max(CASE WHEN from_last = 1 THEN price END) * 1e0 AS closing
  FROM (
  SELECT
    symbol,
    price,
    row_number() OVER (PARTITION BY symbol ORDER BY time) AS from_first,
    row_number() OVER (PARTITION BY symbol ORDER BY time DESC) AS from_last
  FROM trades
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= 1704465000000000000
    AND time < 1704488400000000000
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
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= 1704465000000000000
    AND time < 1704488400000000000
) AS neighbors
WHERE until > time + 30000000000

-- Profile

SELECT
  (time % 86400000000000 + 86400000000000) % 86400000000000 DIV 300000000000 * 300 AS second_of_day,
  sum(size * 1e0) AS sum_size
FROM trades
WHERE symbol IN ('ACME', 'O\'B')
  AND time >= 1704465000000000000
  AND time < 1704488400000000000
GROUP BY 1

-- Nth

SELECT time, symbol, nth_time, nth_price
FROM (
  SELECT
    time,
    symbol,
    `condition`,
    lead(time, 10) OVER (PARTITION BY symbol ORDER BY time) AS nth_time,
    lead(price, 10) OVER (PARTITION BY symbol ORDER BY time) AS nth_price
  FROM trades
  WHERE symbol IN ('ACME', 'O\'B')
    AND time >= 1704465000000000000
    AND time < 1704488400000000000
) AS numbered
WHERE `condition` = 'opening'

