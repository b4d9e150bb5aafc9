-- Buckets: single-groupby-5-8-1 of cpu-only

SELECT
  TO_TIMESTAMP_MS(TO_EPOCH_MS("time") / 60000 * 60000) AS "time",
  max(usage_user) AS max_usage_user,
  max(usage_system) AS max_usage_system,
  max(usage_idle) AS max_usage_idle,
  max(usage_nice) AS max_usage_nice,
  max(usage_iowait) AS max_usage_iowait
FROM cpu
WHERE "series" IN (SELECT _series FROM cpu_series WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11'))
  AND "time" >= TIMESTAMP('2016-01-03T12:26:46.647Z')
  AND "time" < TIMESTAMP('2016-01-03T13:26:46.647Z')
GROUP BY 1
ORDER BY 1

-- Buckets: double-groupby-1 of cpu-only

SELECT
  TO_TIMESTAMP_MS(TO_EPOCH_MS(cpu."time") / 3600000 * 3600000) AS "time",
  cpu_series.hostname,
  avg(cpu.usage_user) AS mean_usage_user
FROM cpu
JOIN cpu_series ON cpu_series._series = cpu."series"
WHERE cpu_series.hostname IS NOT NULL
  AND cpu."time" >= TIMESTAMP('2016-01-02T11:22:40.647Z')
  AND cpu."time" < TIMESTAMP('2016-01-02T23:22:40.647Z')
GROUP BY 1, 2
ORDER BY 1, 2

-- Buckets: groupby-orderby-limit of cpu-only

SELECT
  TO_TIMESTAMP_MS(TO_EPOCH_MS("time") / 60000 * 60000) AS "time",
  max(usage_user) AS max_usage_user
FROM cpu
WHERE "time" < TIMESTAMP('2016-01-03T13:26:46.647Z')
GROUP BY 1
ORDER BY 1 DESC
LIMIT 5

-- Rows: high-cpu-1 of cpu-only

SELECT
  cpu."time",
  cpu_series.hostname,
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
JOIN cpu_series ON cpu_series._series = cpu."series"
WHERE cpu_series.hostname IN ('host_35')
  AND cpu.usage_user > 90
  AND cpu."time" >= TIMESTAMP('2016-01-02T23:35:31.139Z')
  AND cpu."time" < TIMESTAMP('2016-01-03T11:35:31.139Z')

-- Last: lastpoint of cpu-only

SELECT "time", hostname, usage_user, usage_system, usage_idle, usage_nice, usage_iowait, usage_irq, usage_softirq, usage_steal, usage_guest, usage_guest_nice
FROM (
SELECT
  cpu."time",
  cpu_series.hostname,
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
  row_number() OVER (PARTITION BY cpu_series.hostname ORDER BY cpu."time" DESC) AS newest
FROM cpu
JOIN cpu_series ON cpu_series._series = cpu."series"
JOIN (
  SELECT "series", max("time") AS "time"
  FROM cpu
  GROUP BY 1
) AS newest ON newest."series" = cpu."series" AND newest."time" = cpu."time"
WHERE cpu_series.hostname IS NOT NULL
) AS newest_rows
WHERE newest = 1

-- Last: last-loc of iot

SELECT "time", name, driver, longitude, latitude
FROM (
SELECT
  readings."time",
  readings_series.name,
  readings_series.driver,
  readings.longitude,
  readings.latitude,
  row_number() OVER (PARTITION BY readings_series.name ORDER BY readings."time" DESC) AS newest
FROM readings
JOIN readings_series ON readings_series._series = readings."series"
JOIN (
  SELECT "series", max("time") AS "time"
  FROM readings
  WHERE "series" IN (SELECT _series FROM readings_series WHERE fleet IN ('South'))
  GROUP BY 1
) AS newest ON newest."series" = readings."series" AND newest."time" = readings."time"
WHERE readings_series.fleet IN ('South')
  AND readings_series.name IS NOT NULL
) AS newest_rows
WHERE newest = 1

-- Last: low-fuel of iot

SELECT "time", name, driver, fuel_state
FROM (
SELECT
  diagnostics."time",
  diagnostics_series.name,
  diagnostics_series.driver,
  diagnostics.fuel_state,
  row_number() OVER (PARTITION BY diagnostics_series.name ORDER BY diagnostics."time" DESC) AS newest
FROM diagnostics
JOIN diagnostics_series ON diagnostics_series._series = diagnostics."series"
JOIN (
  SELECT "series", max("time") AS "time"
  FROM diagnostics
  WHERE "series" IN (SELECT _series FROM diagnostics_series WHERE fleet IN ('South'))
  GROUP BY 1
) AS newest ON newest."series" = diagnostics."series" AND newest."time" = diagnostics."time"
WHERE diagnostics_series.fleet IN ('South')
  AND diagnostics_series.name IS NOT NULL
) AS newest_rows
WHERE newest = 1
  AND fuel_state < 0.1e0

-- Last: high-load of iot

SELECT "time", name, driver, current_load
FROM (
SELECT
  diagnostics."time",
  diagnostics_series.name,
  diagnostics_series.driver,
  diagnostics.current_load,
  diagnostics_series.load_capacity AS divisor,
  row_number() OVER (PARTITION BY diagnostics_series.name ORDER BY diagnostics."time" DESC) AS newest
FROM diagnostics
JOIN diagnostics_series ON diagnostics_series._series = diagnostics."series"
JOIN (
  SELECT "series", max("time") AS "time"
  FROM diagnostics
  WHERE "series" IN (SELECT _series FROM diagnostics_series WHERE fleet IN ('South'))
  GROUP BY 1
) AS newest ON newest."series" = diagnostics."series" AND newest."time" = diagnostics."time"
WHERE diagnostics_series.fleet IN ('South')
  AND diagnostics_series.name IS NOT NULL
) AS newest_rows
WHERE newest = 1
  AND current_load / divisor > 0.9e0

-- Means: stationary-trucks of iot

SELECT
  readings_series.name,
  avg(readings.velocity) AS mean_velocity
FROM readings
JOIN readings_series ON readings_series._series = readings."series"
WHERE readings_series.fleet IN ('West')
  AND readings_series.name IS NOT NULL
  AND readings."time" >= TIMESTAMP('2016-01-02T12:00:49.647Z')
  AND readings."time" < TIMESTAMP('2016-01-02T12:10:49.647Z')
GROUP BY 1
HAVING avg(readings.velocity) < 1e0

-- ActiveUnits: long-driving-sessions of iot

SELECT name
FROM (
  SELECT
    readings_series.name,
    TO_TIMESTAMP_MS(TO_EPOCH_MS(readings."time") / 600000 * 600000) AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN readings_series ON readings_series._series = readings."series"
  WHERE readings_series.fleet IN ('West')
    AND readings_series.name IS NOT NULL
    AND readings.velocity IS NOT NULL
    AND readings."time" >= TIMESTAMP('2016-01-01T20:11:20.647Z')
    AND readings."time" < TIMESTAMP('2016-01-02T00:11:20.647Z')
  GROUP BY 1, 2
) AS buckets
WHERE active
GROUP BY 1
HAVING count(*) > 22

-- Means: avg-vs-projected-fuel-consumption of iot

SELECT
  readings_series.fleet,
  avg(readings.fuel_consumption) AS mean_fuel_consumption,
  avg(readings_series.nominal_fuel_consumption) AS mean_nominal_fuel_consumption
FROM readings
JOIN readings_series ON readings_series._series = readings."series"
WHERE readings_series.name IS NOT NULL
  AND readings_series.nominal_fuel_consumption IS NOT NULL
  AND readings_series.fleet IS NOT NULL
  AND readings.velocity > 1e0
GROUP BY 1

-- ActiveHours: avg-daily-driving-duration of iot

SELECT
  name,
  count(*) * 0.16666666666666666e0 / count(DISTINCT TO_TIMESTAMP_MS(TO_EPOCH_MS(bucket) / 86400000 * 86400000)) AS hours
FROM (
  SELECT
    readings_series.name,
    TO_TIMESTAMP_MS(TO_EPOCH_MS(readings."time") / 600000 * 600000) AS bucket,
    avg(readings.velocity) > 1e0 AS active
  FROM readings
  JOIN readings_series ON readings_series._series = readings."series"
  WHERE readings_series.name IS NOT NULL
    AND readings.velocity IS NOT NULL
  GROUP BY 1, 2
) AS buckets
WHERE active
GROUP BY 1

-- Sessions: avg-daily-driving-session of iot

SELECT
  TO_TIMESTAMP_MS(TO_EPOCH_MS(start) / 86400000 * 86400000) AS day,
  name,
  avg(TIMESTAMPDIFF(MILLISECOND, stop, start) / 1e3) AS seconds
FROM (
  SELECT
    name,
    bucket AS start,
    active,
    lead(bucket) OVER (PARTITION BY name ORDER BY bucket) AS stop
  FROM (
    SELECT
      name,
      bucket,
      active,
      lag(active) OVER (PARTITION BY name ORDER BY bucket) AS before
    FROM (
      SELECT
        readings_series.name,
        TO_TIMESTAMP_MS(TO_EPOCH_MS(readings."time") / 600000 * 600000) AS bucket,
        avg(readings.velocity) > 5e0 AS active
      FROM readings
      JOIN readings_series ON readings_series._series = readings."series"
      WHERE readings_series.name IS NOT NULL
        AND readings.velocity IS NOT NULL
      GROUP BY 1, 2
    ) AS buckets
  ) AS changes
  WHERE active <> before
) AS sessions
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
    diagnostics_series.fleet,
    diagnostics_series.model,
    diagnostics_series.load_capacity,
    avg(diagnostics.current_load) / diagnostics_series.load_capacity AS mean_current_load
  FROM diagnostics
  JOIN diagnostics_series ON diagnostics_series._series = diagnostics."series"
  WHERE diagnostics_series.fleet IS NOT NULL
    AND diagnostics_series.model IS NOT NULL
    AND diagnostics_series.load_capacity IS NOT NULL
    AND diagnostics_series.name IS NOT NULL
  GROUP BY 1, 2, 3, diagnostics_series.name
) AS units
GROUP BY 1, 2, 3

-- ActiveShare: daily-activity of iot

SELECT
  TO_TIMESTAMP_MS(TO_EPOCH_MS(bucket) / 86400000 * 86400000) AS day,
  fleet,
  model,
  count(*) / 144e0 AS share
FROM (
  SELECT
    diagnostics_series.fleet,
    diagnostics_series.model,
    diagnostics_series.name,
    TO_TIMESTAMP_MS(TO_EPOCH_MS(diagnostics."time") / 600000 * 600000) AS bucket,
    avg(diagnostics.status) < 1e0 AS active
  FROM diagnostics
  JOIN diagnostics_series ON diagnostics_series._series = diagnostics."series"
  WHERE diagnostics_series.fleet IS NOT NULL
    AND diagnostics_series.model IS NOT NULL
    AND diagnostics_series.name IS NOT NULL
    AND diagnostics.status IS NOT NULL
  GROUP BY 1, 2, 3, 4
) AS buckets
WHERE active
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3

-- Starts: breakdown-frequency of iot

SELECT
  model,
  count(*) AS starts
FROM (
  SELECT
    model,
    name,
    bucket,
    active,
    lag(active) OVER (PARTITION BY model, name ORDER BY bucket) AS before
  FROM (
    SELECT
      diagnostics_series.model,
      diagnostics_series.name,
      TO_TIMESTAMP_MS(TO_EPOCH_MS(diagnostics."time") / 600000 * 600000) AS bucket,
      avg(CASE WHEN diagnostics.status = 0 THEN 1e0 ELSE 0e0 END) >= 0.5e0 AS active
    FROM diagnostics
    JOIN diagnostics_series ON diagnostics_series._series = diagnostics."series"
    WHERE diagnostics_series.model IS NOT NULL
      AND diagnostics_series.name IS NOT NULL
      AND diagnostics.status IS NOT NULL
    GROUP BY 1, 2, 3
  ) AS buckets
) AS changes
WHERE active AND NOT before
GROUP BY 1

-- Rows: precise-point of iotdb

SELECT
  g_0."time",
  g_0_series.device,
  g_0.s_7,
  g_0.s_4
FROM g_0
JOIN g_0_series ON g_0_series._series = g_0."series"
WHERE g_0_series.device IN ('d_85', 'd_70')
  AND g_0."time" >= TIMESTAMP('2016-01-03T17:22:20.000Z')
  AND g_0."time" < TIMESTAMP('2016-01-03T17:22:20.001Z')

-- Rows: value-range of iotdb

SELECT
  g_0."time",
  g_0_series.device,
  g_0.s_6,
  g_0.s_4
FROM g_0
JOIN g_0_series ON g_0_series._series = g_0."series"
WHERE g_0_series.device IN ('d_87', 'd_77')
  AND g_0.s_6 > -5e0
  AND g_0.s_4 > -5
  AND g_0."time" >= TIMESTAMP('2016-01-02T20:47:38.298Z')
  AND g_0."time" < TIMESTAMP('2016-01-02T20:51:48.299Z')

-- AnyRows: value-range-limit of iotdb

SELECT
  g_0."time",
  g_0_series.device,
  g_0.s_5,
  g_0.s_6
FROM g_0
JOIN g_0_series ON g_0_series._series = g_0."series"
WHERE g_0_series.device IN ('d_41', 'd_46')
  AND g_0.s_5 > -5e0
  AND g_0.s_6 > -5e0
  AND g_0."time" >= TIMESTAMP('2016-01-03T22:57:09.909Z')
  AND g_0."time" < TIMESTAMP('2016-01-03T23:01:19.910Z')
LIMIT 100

-- Totals: agg-time-value of iotdb

SELECT
  g_0_series.device,
  max(g_0.s_7) AS max_s_7,
  max(g_0.s_3) AS max_s_3
FROM g_0
JOIN g_0_series ON g_0_series._series = g_0."series"
WHERE g_0_series.device IN ('d_93', 'd_19')
  AND g_0.s_7 > -5e0
  AND g_0.s_3 > -5
  AND g_0."time" >= TIMESTAMP('2016-01-02T15:26:38.690Z')
  AND g_0."time" < TIMESTAMP('2016-01-02T15:30:48.691Z')
GROUP BY 1

-- Buckets: group-by-time-desc of iotdb

SELECT
  TO_TIMESTAMP_MS(TO_EPOCH_MS(g_0."time") / 20000 * 20000) AS "time",
  g_0_series.device,
  max(g_0.s_4) AS max_s_4,
  max(g_0.s_2) AS max_s_2
FROM g_0
JOIN g_0_series ON g_0_series._series = g_0."series"
WHERE g_0_series.device IN ('d_67', 'd_0')
  AND g_0."time" >= TIMESTAMP('2016-01-03T00:26:42.561Z')
  AND g_0."time" < TIMESTAMP('2016-01-03T00:30:52.561Z')
GROUP BY 1, 2
ORDER BY 1 DESC, 2 DESC

-- RowSet: set-operation of iotdb

SELECT
  g_0."time",
  g_0_series.device,
  g_0.s_5,
  g_0.s_0
FROM g_0
JOIN g_0_series ON g_0_series._series = g_0."series"
WHERE g_0_series.device IN ('d_76', 'd_2')
  AND g_0."time" >= TIMESTAMP('2016-01-03T09:47:45.043Z')
  AND g_0."time" < TIMESTAMP('2016-01-03T09:51:55.044Z')
UNION
SELECT
  g_0."time",
  g_0_series.device,
  g_0.s_5,
  g_0.s_0
FROM g_0
JOIN g_0_series ON g_0_series._series = g_0."series"
WHERE g_0_series.device IN ('d_76', 'd_2')
  AND g_0."time" >= TIMESTAMP('2016-01-03T09:47:45.043Z')
  AND g_0."time" < TIMESTAMP('2016-01-03T09:51:55.044Z')

-- Rows: value-range of iotdb, with <

SELECT
  g_0."time",
  g_0_series.device,
  g_0.s_6,
  g_0.s_4
FROM g_0
JOIN g_0_series ON g_0_series._series = g_0."series"
WHERE g_0_series.device IN ('d_87', 'd_77')
  AND g_0.s_6 < -5e0
  AND g_0.s_4 < -5
  AND g_0."time" >= TIMESTAMP('2016-01-02T20:47:38.298Z')
  AND g_0."time" < TIMESTAMP('2016-01-02T20:51:48.299Z')

-- Rows: value-range of iotdb, with =

SELECT
  g_0."time",
  g_0_series.device,
  g_0.s_6,
  g_0.s_4
FROM g_0
JOIN g_0_series ON g_0_series._series = g_0."series"
WHERE g_0_series.device IN ('d_87', 'd_77')
  AND g_0.s_6 = -5e0
  AND g_0.s_4 = -5
  AND g_0."time" >= TIMESTAMP('2016-01-02T20:47:38.298Z')
  AND g_0."time" < TIMESTAMP('2016-01-02T20:51:48.299Z')

-- Candles

n/a: query ticks: not supported: tsmark has no query of GridDB's SQL for candles: a SELECT has one window function, without a frame

-- Weighted

SELECT
  TO_TIMESTAMP_MS(TO_EPOCH_MS(trades."time") / 60000 * 60000) AS "time",
  trades_series.symbol,
  sum(trades.price * trades.size) / nullif(sum(trades.size), 0) AS weighted_price
FROM trades
JOIN trades_series ON trades_series._series = trades."series"
WHERE trades_series.symbol IN ('ACME', 'O''B')
  AND trades."time" >= TIMESTAMP('2024-01-05T14:30:00.000Z')
  AND trades."time" < TIMESTAMP('2024-01-05T21:00:00.000Z')
GROUP BY 1, 2

-- AsOf

SELECT
  left_rows."time",
  left_rows.symbol,
  left_rows.price,
  quotes.bid AS quotes_bid,
  quotes.ask AS quotes_ask
FROM (
  SELECT
    "time",
    symbol,
    price,
    "series",
    joined,
    max(other_time) OVER (PARTITION BY "series" ORDER BY "time", joined) AS newest_time
  FROM (
    SELECT
      trades."time",
      trades_series.symbol,
      trades."series",
      trades.price,
      1 AS joined,
      CASE WHEN 1 = 0 THEN "time" END AS other_time
    FROM trades
    JOIN trades_series ON trades_series._series = trades."series"
    WHERE trades_series.symbol IN ('ACME', 'O''B')
      AND trades."time" >= TIMESTAMP('2024-01-05T14:30:00.000Z')
      AND trades."time" < TIMESTAMP('2024-01-05T21:00:00.000Z')
    UNION ALL
    SELECT
      "time",
      NULL AS symbol,
      "series",
      NULL AS price,
      0 AS joined,
      "time" AS other_time
    FROM quotes
    WHERE "series" IN (SELECT _series FROM trades_series WHERE symbol IN ('ACME', 'O''B'))
      AND "time" < TIMESTAMP('2024-01-05T21:00:00.000Z')
  ) AS both_tables
) AS left_rows
LEFT JOIN quotes ON left_rows."series" = quotes."series" AND quotes."time" = newest_time
WHERE joined = 1

-- AsOf

SELECT
  left_rows."time",
  left_rows.symbol,
  left_rows.price,
  quotes.bid AS quotes_bid,
  quotes.ask AS quotes_ask
FROM (
  SELECT
    "time",
    symbol,
    price,
    "series",
    joined,
    max(other_time) OVER (PARTITION BY "series" ORDER BY "time", joined) AS newest_time
  FROM (
    SELECT
      trades."time",
      trades_series.symbol,
      trades."series",
      trades.price,
      1 AS joined,
      CASE WHEN 1 = 0 THEN "time" END AS other_time
    FROM trades
    JOIN trades_series ON trades_series._series = trades."series"
    WHERE trades_series.symbol IN ('ACME', 'O''B')
      AND trades."time" >= TIMESTAMP('2024-01-05T14:30:00.000Z')
      AND trades."time" < TIMESTAMP('2024-01-05T21:00:00.000Z')
    UNION ALL
    SELECT
      "time",
      NULL AS symbol,
      "series",
      NULL AS price,
      0 AS joined,
      "time" AS other_time
    FROM quotes
    WHERE "series" IN (SELECT _series FROM trades_series WHERE symbol IN ('ACME', 'O''B'))
      AND "time" >= TIMESTAMP('2024-01-05T14:29:58.500Z')
      AND "time" < TIMESTAMP('2024-01-05T21:00:00.000Z')
  ) AS both_tables
) AS left_rows
LEFT JOIN quotes ON left_rows."series" = quotes."series" AND quotes."time" = newest_time
  AND newest_time >= TIMESTAMP_ADD(MILLISECOND, left_rows."time", -1500)
WHERE joined = 1

-- Around

n/a: query ticks: not supported: tsmark has no query of GridDB's SQL for window joins: a SELECT has one window function, without a frame

-- Movers

n/a: query ticks: not supported: tsmark has no query of GridDB's SQL for the largest changes of a value: a SELECT has one window function, without a frame

-- Gaps

SELECT "time", symbol, until
FROM (
  SELECT
    trades."time",
    trades_series.symbol,
    lead(trades."time") OVER (PARTITION BY trades."series" ORDER BY trades."time") AS until
  FROM trades
  JOIN trades_series ON trades_series._series = trades."series"
  WHERE trades_series.symbol IN ('ACME', 'O''B')
    AND trades."time" >= TIMESTAMP('2024-01-05T14:30:00.000Z')
    AND trades."time" < TIMESTAMP('2024-01-05T21:00:00.000Z')
) AS neighbors
WHERE until > TIMESTAMP_ADD(MILLISECOND, "time", 30000)

-- Profile

SELECT
  TO_EPOCH_MS("time") % 86400000 / 300000 * 300 AS second_of_day,
  sum(size * 1e0) AS sum_size
FROM trades
WHERE "series" IN (SELECT _series FROM trades_series WHERE symbol IN ('ACME', 'O''B'))
  AND "time" >= TIMESTAMP('2024-01-05T14:30:00.000Z')
  AND "time" < TIMESTAMP('2024-01-05T21:00:00.000Z')
GROUP BY 1

-- Nth

n/a: query ticks: not supported: tsmark has no query of GridDB's SQL for rows after an event: a SELECT has one window function, without a frame

