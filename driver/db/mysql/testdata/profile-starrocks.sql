-- Buckets: single-groupby-5-8-1 of cpu-only

SELECT
  date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), time) - 11676096000) / 60) * 60 AS INT) SECOND) AS time,
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11'))
  AND time >= CAST('2016-01-03 12:26:46.647' AS DATETIME)
  AND time < CAST('2016-01-03 13:26:46.647' AS DATETIME)
GROUP BY 1
ORDER BY 1

-- Buckets: double-groupby-1 of cpu-only

SELECT
  date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), cpu.time) - 11676096000) / 3600) * 3600 AS INT) SECOND) AS time,
  tags.hostname,
  avg(cpu.usage_user * 1e0) AS mean_usage_user
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
WHERE tags.hostname IS NOT NULL
  AND cpu.time >= CAST('2016-01-02 11:22:40.647' AS DATETIME)
  AND cpu.time < CAST('2016-01-02 23:22:40.647' AS DATETIME)
GROUP BY 1, 2
ORDER BY 1, 2

-- Buckets: groupby-orderby-limit of cpu-only

SELECT
  date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), time) - 11676096000) / 60) * 60 AS INT) SECOND) AS time,
  max(usage_user) AS max_usage_user
FROM cpu
WHERE time < CAST('2016-01-03 13:26:46.647' AS DATETIME)
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
  AND cpu.time >= CAST('2016-01-02 23:35:31.139' AS DATETIME)
  AND cpu.time < CAST('2016-01-03 11:35:31.139' AS DATETIME)

-- Last: lastpoint of cpu-only

SELECT time, hostname, usage_user, usage_system, usage_idle, usage_nice, usage_iowait, usage_irq, usage_softirq, usage_steal, usage_guest, usage_guest_nice
FROM (
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
  cpu.usage_guest_nice,
  row_number() OVER (PARTITION BY tags.hostname ORDER BY cpu.time DESC) AS newest
FROM cpu
JOIN tags ON tags.id = cpu.tags_id
JOIN (
  SELECT tags_id, max(time) AS time
  FROM cpu
  GROUP BY 1
) AS newest ON newest.tags_id = cpu.tags_id AND newest.time = cpu.time
WHERE tags.hostname IS NOT NULL
) AS newest_rows
WHERE newest = 1

-- Last: last-loc of iot

SELECT time, name, driver, longitude, latitude
FROM (
SELECT
  readings.time,
  tags.name,
  tags.driver,
  readings.longitude,
  readings.latitude,
  row_number() OVER (PARTITION BY tags.name ORDER BY readings.time DESC) AS newest
FROM readings
JOIN tags ON tags.id = readings.tags_id
JOIN (
  SELECT tags_id, max(time) AS time
  FROM readings
  WHERE tags_id IN (SELECT id FROM tags WHERE fleet IN ('South'))
  GROUP BY 1
) AS newest ON newest.tags_id = readings.tags_id AND newest.time = readings.time
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
) AS newest_rows
WHERE newest = 1

-- Last: low-fuel of iot

SELECT time, name, driver, fuel_state
FROM (
SELECT
  diagnostics.time,
  tags.name,
  tags.driver,
  diagnostics.fuel_state,
  row_number() OVER (PARTITION BY tags.name ORDER BY diagnostics.time DESC) AS newest
FROM diagnostics
JOIN tags ON tags.id = diagnostics.tags_id
JOIN (
  SELECT tags_id, max(time) AS time
  FROM diagnostics
  WHERE tags_id IN (SELECT id FROM tags WHERE fleet IN ('South'))
  GROUP BY 1
) AS newest ON newest.tags_id = diagnostics.tags_id AND newest.time = diagnostics.time
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
) AS newest_rows
WHERE newest = 1
  AND fuel_state < 0.1e0

-- Last: high-load of iot

SELECT time, name, driver, current_load
FROM (
SELECT
  diagnostics.time,
  tags.name,
  tags.driver,
  diagnostics.current_load,
  tags.load_capacity AS divisor,
  row_number() OVER (PARTITION BY tags.name ORDER BY diagnostics.time DESC) AS newest
FROM diagnostics
JOIN tags ON tags.id = diagnostics.tags_id
JOIN (
  SELECT tags_id, max(time) AS time
  FROM diagnostics
  WHERE tags_id IN (SELECT id FROM tags WHERE fleet IN ('South'))
  GROUP BY 1
) AS newest ON newest.tags_id = diagnostics.tags_id AND newest.time = diagnostics.time
WHERE tags.fleet IN ('South')
  AND tags.name IS NOT NULL
) AS newest_rows
WHERE newest = 1
  AND current_load / divisor > 0.9e0

-- Means: stationary-trucks of iot

SELECT
  tags.name,
  avg(readings.velocity) AS mean_velocity
FROM readings
JOIN tags ON tags.id = readings.tags_id
WHERE tags.fleet IN ('West')
  AND tags.name IS NOT NULL
  AND readings.time >= CAST('2016-01-02 12:00:49.647' AS DATETIME)
  AND readings.time < CAST('2016-01-02 12:10:49.647' AS DATETIME)
GROUP BY 1
HAVING avg(readings.velocity) < 1e0

-- ActiveUnits: long-driving-sessions of iot

WITH buckets AS (
  SELECT
    tags.name,
    date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), readings.time) - 11676096000) / 600) * 600 AS INT) SECOND) AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.fleet IN ('West')
    AND tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
    AND readings.time >= CAST('2016-01-01 20:11:20.647' AS DATETIME)
    AND readings.time < CAST('2016-01-02 00:11:20.647' AS DATETIME)
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
    date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), readings.time) - 11676096000) / 600) * 600 AS INT) SECOND) AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN tags ON tags.id = readings.tags_id
  WHERE tags.name IS NOT NULL
    AND readings.velocity IS NOT NULL
  GROUP BY 1, 2
)
SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), bucket) - 11676096000) / 86400) * 86400 AS INT) SECOND)) AS hours
FROM buckets
WHERE active
GROUP BY 1

-- Sessions: avg-daily-driving-session of iot

WITH buckets AS (
  SELECT
    tags.name,
    date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), readings.time) - 11676096000) / 600) * 600 AS INT) SECOND) AS bucket,
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
  date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), start) - 11676096000) / 86400) * 86400 AS INT) SECOND) AS day,
  name,
  avg(timestampdiff(MILLISECOND, start, stop) / 1e3) AS seconds
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
    date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), diagnostics.time) - 11676096000) / 600) * 600 AS INT) SECOND) AS bucket,
    avg(diagnostics.status * 1e0) < 1e0 AS active
  FROM diagnostics
  JOIN tags ON tags.id = diagnostics.tags_id
  WHERE tags.fleet IS NOT NULL
    AND tags.model IS NOT NULL
    AND tags.name IS NOT NULL
    AND diagnostics.status IS NOT NULL
  GROUP BY 1, 2, 3, 4
)
SELECT
  date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), bucket) - 11676096000) / 86400) * 86400 AS INT) SECOND) AS day,
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
    date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), diagnostics.time) - 11676096000) / 600) * 600 AS INT) SECOND) AS bucket,
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
  g_0.time,
  tags.device,
  g_0.s_7,
  g_0.s_4
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_85', 'd_70')
  AND g_0.time = CAST('2016-01-03 17:22:20' AS DATETIME)

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
  AND g_0.time >= CAST('2016-01-02 20:47:38.298' AS DATETIME)
  AND g_0.time < CAST('2016-01-02 20:51:48.299' AS DATETIME)

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
  AND g_0.time >= CAST('2016-01-03 22:57:09.909' AS DATETIME)
  AND g_0.time < CAST('2016-01-03 23:01:19.91' AS DATETIME)
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
  AND g_0.time >= CAST('2016-01-02 15:26:38.69' AS DATETIME)
  AND g_0.time < CAST('2016-01-02 15:30:48.691' AS DATETIME)
GROUP BY 1

-- Buckets: group-by-time-desc of iotdb

SELECT
  date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), g_0.time) - 11676096000) / 20) * 20 AS INT) SECOND) AS time,
  tags.device,
  max(g_0.s_4) AS max_s_4,
  max(g_0.s_2) AS max_s_2
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_67', 'd_0')
  AND g_0.time >= CAST('2016-01-03 00:26:42.561' AS DATETIME)
  AND g_0.time < CAST('2016-01-03 00:30:52.561' AS DATETIME)
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
  AND g_0.time >= CAST('2016-01-03 09:47:45.043' AS DATETIME)
  AND g_0.time < CAST('2016-01-03 09:51:55.044' AS DATETIME)
UNION
SELECT
  g_0.time,
  tags.device,
  g_0.s_5,
  g_0.s_0
FROM g_0
JOIN tags ON tags.id = g_0.tags_id
WHERE tags.device IN ('d_76', 'd_2')
  AND g_0.time >= CAST('2016-01-03 09:47:45.043' AS DATETIME)
  AND g_0.time < CAST('2016-01-03 09:51:55.044' AS DATETIME)

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
  AND g_0.time >= CAST('2016-01-02 20:47:38.298' AS DATETIME)
  AND g_0.time < CAST('2016-01-02 20:51:48.299' AS DATETIME)

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
  AND g_0.time >= CAST('2016-01-02 20:47:38.298' AS DATETIME)
  AND g_0.time < CAST('2016-01-02 20:51:48.299' AS DATETIME)

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
    date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), trades.time) - 11676096000) / 60) * 60 AS INT) SECOND) AS bucket,
    tags.symbol,
    trades.price,
    trades.size,
    row_number() OVER (PARTITION BY trades.tags_id, date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), trades.time) - 11676096000) / 60) * 60 AS INT) SECOND) ORDER BY trades.time) AS from_first,
    row_number() OVER (PARTITION BY trades.tags_id, date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), trades.time) - 11676096000) / 60) * 60 AS INT) SECOND) ORDER BY trades.time DESC) AS from_last
  FROM trades
  JOIN tags ON tags.id = trades.tags_id
  WHERE tags.symbol IN ('ACME', 'O\'B')
    AND trades.time >= CAST('2024-01-05 14:30:00' AS DATETIME)
    AND trades.time < CAST('2024-01-05 21:00:00' AS DATETIME)
) AS numbered
GROUP BY 1, 2

-- Weighted

SELECT
  date_add(CAST('1970-01-01 00:00:00' AS DATETIME), INTERVAL CAST(floor((timestampdiff(SECOND, CAST('1600-01-01 00:00:00' AS DATETIME), trades.time) - 11676096000) / 60) * 60 AS INT) SECOND) AS time,
  tags.symbol,
  sum(trades.price * trades.size) / nullif(sum(trades.size), 0) AS weighted_price
FROM trades
JOIN tags ON tags.id = trades.tags_id
WHERE tags.symbol IN ('ACME', 'O\'B')
  AND trades.time >= CAST('2024-01-05 14:30:00' AS DATETIME)
  AND trades.time < CAST('2024-01-05 21:00:00' AS DATETIME)
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
    tags_id,
    joined,
    max(other_time) OVER (PARTITION BY tags_id ORDER BY time, joined) AS newest_time
  FROM (
    SELECT
      trades.time,
      tags.symbol,
      trades.tags_id,
      trades.price,
      1 AS joined,
      CASE WHEN 1 = 0 THEN time END AS other_time
    FROM trades
    JOIN tags ON tags.id = trades.tags_id
    WHERE tags.symbol IN ('ACME', 'O\'B')
      AND trades.time >= CAST('2024-01-05 14:30:00' AS DATETIME)
      AND trades.time < CAST('2024-01-05 21:00:00' AS DATETIME)
    UNION ALL
    SELECT
      time,
      NULL AS symbol,
      tags_id,
      NULL AS price,
      0 AS joined,
      time AS other_time
    FROM quotes
    WHERE tags_id IN (SELECT id FROM tags WHERE symbol IN ('ACME', 'O\'B'))
      AND time >= CAST('2024-01-05 14:30:00' AS DATETIME)
      AND time < CAST('2024-01-05 21:00:00' AS DATETIME)
    UNION ALL
    SELECT
      right_rows.time,
      NULL AS symbol,
      right_rows.tags_id,
      NULL AS price,
      0 AS joined,
      right_rows.time AS other_time
    FROM tags
    JOIN quotes AS right_rows ON right_rows.tags_id = tags.id AND right_rows.time = (
      SELECT time
      FROM quotes
      WHERE tags_id = tags.id
        AND time < CAST('2024-01-05 14:30:00' AS DATETIME)
      ORDER BY time DESC
      LIMIT 1
    )
    WHERE tags.symbol IN ('ACME', 'O\'B')
  ) AS both_tables
) AS left_rows
LEFT JOIN quotes ON left_rows.tags_id = quotes.tags_id AND quotes.time = newest_time
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
    tags_id,
    joined,
    max(other_time) OVER (PARTITION BY tags_id ORDER BY time, joined) AS newest_time
  FROM (
    SELECT
      trades.time,
      tags.symbol,
      trades.tags_id,
      trades.price,
      1 AS joined,
      CASE WHEN 1 = 0 THEN time END AS other_time
    FROM trades
    JOIN tags ON tags.id = trades.tags_id
    WHERE tags.symbol IN ('ACME', 'O\'B')
      AND trades.time >= CAST('2024-01-05 14:30:00' AS DATETIME)
      AND trades.time < CAST('2024-01-05 21:00:00' AS DATETIME)
    UNION ALL
    SELECT
      time,
      NULL AS symbol,
      tags_id,
      NULL AS price,
      0 AS joined,
      time AS other_time
    FROM quotes
    WHERE tags_id IN (SELECT id FROM tags WHERE symbol IN ('ACME', 'O\'B'))
      AND time >= CAST('2024-01-05 14:29:58.5' AS DATETIME)
      AND time < CAST('2024-01-05 21:00:00' AS DATETIME)
  ) AS both_tables
) AS left_rows
LEFT JOIN quotes ON left_rows.tags_id = quotes.tags_id AND quotes.time = newest_time
  AND newest_time >= left_rows.time + INTERVAL -1500000 MICROSECOND
WHERE joined = 1

-- Around

SELECT time, symbol, price, mean_ask_minus_bid
FROM (
  SELECT
    time,
    symbol,
    price,
    joined,
    avg(difference) OVER (PARTITION BY tags_id ORDER BY TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', time) RANGE BETWEEN 1000000 PRECEDING AND 250000 FOLLOWING) AS mean_ask_minus_bid
  FROM (
    SELECT
      trades.time,
      tags.symbol,
      trades.tags_id,
      trades.price,
      1 AS joined,
      CASE WHEN 1 = 0 THEN 0e0 END AS difference
    FROM trades
    JOIN tags ON tags.id = trades.tags_id
    WHERE tags.symbol IN ('ACME', 'O\'B')
      AND trades.time >= CAST('2024-01-05 14:30:00' AS DATETIME)
      AND trades.time < CAST('2024-01-05 21:00:00' AS DATETIME)
    UNION ALL
    SELECT
      time,
      NULL AS symbol,
      tags_id,
      NULL AS price,
      0 AS joined,
      ask - bid AS difference
    FROM quotes
    WHERE tags_id IN (SELECT id FROM tags WHERE symbol IN ('ACME', 'O\'B'))
      AND time >= CAST('2024-01-05 14:29:59' AS DATETIME)
      AND time < CAST('2024-01-05 21:00:00.25' AS DATETIME)
  ) AS both_tables
) AS windows
WHERE joined = 1

-- Movers

SELECT symbol, closing / opening - 1 AS `change`
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
      AND time >= CAST('2024-01-05 14:30:00' AS DATETIME)
      AND time < CAST('2024-01-05 21:00:00' AS DATETIME)
    ORDER BY time
    LIMIT 1
  )
  JOIN trades AS last_rows ON last_rows.tags_id = tags.id AND last_rows.time = (
    SELECT time
    FROM trades
    WHERE tags_id = tags.id
      AND time >= CAST('2024-01-05 14:30:00' AS DATETIME)
      AND time < CAST('2024-01-05 21:00:00' AS DATETIME)
    ORDER BY time DESC
    LIMIT 1
  )
  WHERE tags.symbol IN ('ACME', 'O\'B')
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
  WHERE tags.symbol IN ('ACME', 'O\'B')
    AND trades.time >= CAST('2024-01-05 14:30:00' AS DATETIME)
    AND trades.time < CAST('2024-01-05 21:00:00' AS DATETIME)
) AS neighbors
WHERE until > time + INTERVAL 30000000 MICROSECOND

-- Profile

SELECT
  TIME_TO_SEC(time) DIV 300 * 300 AS second_of_day,
  sum(size * 1e0) AS sum_size
FROM trades
WHERE tags_id IN (SELECT id FROM tags WHERE symbol IN ('ACME', 'O\'B'))
  AND time >= CAST('2024-01-05 14:30:00' AS DATETIME)
  AND time < CAST('2024-01-05 21:00:00' AS DATETIME)
GROUP BY 1

-- Nth

SELECT time, symbol, nth_time, nth_price
FROM (
  SELECT
    trades.time,
    tags.symbol,
    trades.`condition`,
    lead(trades.time, 10) OVER (PARTITION BY trades.tags_id ORDER BY trades.time) AS nth_time,
    lead(trades.price, 10) OVER (PARTITION BY trades.tags_id ORDER BY trades.time) AS nth_price
  FROM trades
  JOIN tags ON tags.id = trades.tags_id
  WHERE tags.symbol IN ('ACME', 'O\'B')
    AND trades.time >= CAST('2024-01-05 14:30:00' AS DATETIME)
    AND trades.time < CAST('2024-01-05 21:00:00' AS DATETIME)
) AS numbered
WHERE `condition` = 'opening'

