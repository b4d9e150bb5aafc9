-- Buckets: single-groupby-5-8-1 of cpu-only

SELECT _wstart, max(usage_user), max(usage_system), max(usage_idle), max(usage_nice), max(usage_iowait)
FROM cpu
WHERE hostname IN ('host_49', 'host_3', 'host_35', 'host_39', 'host_75', 'host_15', 'host_21', 'host_11')
  AND ts >= 1451824006647
  AND ts < 1451827606647
INTERVAL(1m)
ORDER BY 1

-- Buckets: double-groupby-1 of cpu-only

SELECT _wstart, hostname, avg(usage_user)
FROM cpu
WHERE hostname IS NOT NULL
  AND ts >= 1451733760647
  AND ts < 1451776960647
PARTITION BY hostname INTERVAL(1h)
ORDER BY 1, 2

-- Buckets: groupby-orderby-limit of cpu-only

SELECT _wstart, max(usage_user)
FROM cpu
WHERE ts < 1451827606647
INTERVAL(1m)
ORDER BY 1 DESC
LIMIT 5

-- Rows: high-cpu-1 of cpu-only

SELECT ts, hostname, usage_user, usage_system, usage_idle, usage_nice, usage_iowait, usage_irq, usage_softirq, usage_steal, usage_guest, usage_guest_nice
FROM cpu
WHERE hostname IN ('host_35')
  AND usage_user > 90
  AND ts >= 1451777731139
  AND ts < 1451820931139

-- Last: lastpoint of cpu-only

SELECT last_row(ts) AS ts, hostname, usage_user, usage_system, usage_idle, usage_nice, usage_iowait, usage_irq, usage_softirq, usage_steal, usage_guest, usage_guest_nice
FROM cpu
WHERE hostname IS NOT NULL
PARTITION BY hostname

-- Last: last-loc of iot

SELECT last_row(ts) AS ts, name, driver, longitude, latitude
FROM readings
WHERE fleet IN ('South')
  AND name IS NOT NULL
PARTITION BY name

-- Last: low-fuel of iot

SELECT ts, name, driver, fuel_state
FROM (
SELECT last_row(ts) AS ts, name, driver, fuel_state
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
PARTITION BY name
)
WHERE fuel_state < 0.1

-- Last: high-load of iot

SELECT ts, name, driver, current_load
FROM (
SELECT last_row(ts) AS ts, name, driver, current_load, load_capacity AS divisor
FROM diagnostics
WHERE fleet IN ('South')
  AND name IS NOT NULL
PARTITION BY name
)
WHERE current_load / divisor > 0.9

-- Means: stationary-trucks of iot

SELECT name, avg(velocity)
FROM readings
WHERE fleet IN ('West')
  AND name IS NOT NULL
  AND ts >= 1451736049647
  AND ts < 1451736649647
GROUP BY name
HAVING avg(velocity) < 1.0

-- ActiveUnits: long-driving-sessions of iot

SELECT name
FROM (
SELECT name, count(*) AS n
FROM (
SELECT _wstart AS ts, name, CASE WHEN avg(velocity) > 1.0 THEN 1 ELSE 0 END AS active
FROM readings
WHERE fleet IN ('West')
  AND name IS NOT NULL
  AND velocity IS NOT NULL
  AND ts >= 1451679080647
  AND ts < 1451693480647
PARTITION BY name INTERVAL(10m)
)
WHERE active = 1
GROUP BY name
)
WHERE n > 22

-- Means: avg-vs-projected-fuel-consumption of iot

SELECT fleet, avg(fuel_consumption), avg(nominal_fuel_consumption)
FROM readings
WHERE name IS NOT NULL
  AND nominal_fuel_consumption IS NOT NULL
  AND fleet IS NOT NULL
  AND velocity > 1.0
GROUP BY fleet

-- ActiveHours: avg-daily-driving-duration of iot

SELECT name, avg(n) * 0.16666666666666666
FROM (
SELECT _wstart AS day, name, count(*) AS n
FROM (
SELECT _wstart AS ts, name, CASE WHEN avg(velocity) > 1.0 THEN 1 ELSE 0 END AS active
FROM readings
WHERE name IS NOT NULL
  AND velocity IS NOT NULL
PARTITION BY name INTERVAL(10m)
)
WHERE active = 1
PARTITION BY name INTERVAL(24h)
)
GROUP BY name

-- Sessions: avg-daily-driving-session of iot

SELECT day, name, avg(length) / 1000.0
FROM (
SELECT TIMETRUNCATE(CAST(CAST(ts AS BIGINT) - length AS TIMESTAMP), 1d, 0) AS day, name, length
FROM (
SELECT ts, name, changed, diff(CAST(ts AS BIGINT)) AS length
FROM (
SELECT ts, name, diff(active) AS changed
FROM (
SELECT _wstart AS ts, name, CASE WHEN avg(velocity) > 5.0 THEN 1 ELSE 0 END AS active
FROM readings
WHERE name IS NOT NULL
  AND velocity IS NOT NULL
PARTITION BY name INTERVAL(10m)
)
PARTITION BY name
ORDER BY ts
)
WHERE changed <> 0
PARTITION BY name
)
WHERE changed = -1
)
GROUP BY day, name
ORDER BY 1, 2

-- UnitMeans: avg-load of iot

SELECT g0, g1, g2, avg(m0)
FROM (
SELECT fleet AS g0, model AS g1, load_capacity AS g2, avg(current_load) / load_capacity AS m0
FROM diagnostics
WHERE fleet IS NOT NULL
  AND model IS NOT NULL
  AND load_capacity IS NOT NULL
  AND name IS NOT NULL
GROUP BY fleet, model, load_capacity, name
)
GROUP BY g0, g1, g2

-- ActiveShare: daily-activity of iot

SELECT _wstart AS day, fleet, model, count(*) / 144.0
FROM (
SELECT _wstart AS ts, name, fleet, model, CASE WHEN avg(status) < 1.0 THEN 1 ELSE 0 END AS active
FROM diagnostics
WHERE fleet IS NOT NULL
  AND model IS NOT NULL
  AND name IS NOT NULL
  AND status IS NOT NULL
PARTITION BY name, fleet, model INTERVAL(10m)
ORDER BY ts
)
WHERE active = 1
PARTITION BY fleet, model INTERVAL(24h)
ORDER BY day, fleet, model

-- Starts: breakdown-frequency of iot

SELECT model, count(*)
FROM (
SELECT ts, name, model, diff(active) AS changed
FROM (
SELECT _wstart AS ts, name, model, CASE WHEN avg(CASE WHEN status = 0 THEN 1.0 ELSE 0.0 END) >= 0.5 THEN 1 ELSE 0 END AS active
FROM diagnostics
WHERE model IS NOT NULL
  AND name IS NOT NULL
  AND status IS NOT NULL
PARTITION BY name, model INTERVAL(10m)
)
PARTITION BY name, model
)
WHERE changed = 1
GROUP BY model

-- Rows: precise-point of iotdb

SELECT ts, device, s_7, s_4
FROM g_0
WHERE device IN ('d_85', 'd_70')
  AND ts >= 1451841740000
  AND ts < 1451841740001

-- Rows: value-range of iotdb

SELECT ts, device, s_6, s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 > -5.0
  AND s_4 > -5
  AND ts >= 1451767658298
  AND ts < 1451767908299

-- AnyRows: value-range-limit of iotdb

SELECT ts, device, s_5, s_6
FROM g_0
WHERE device IN ('d_41', 'd_46')
  AND s_5 > -5.0
  AND s_6 > -5.0
  AND ts >= 1451861829909
  AND ts < 1451862079910
LIMIT 100

-- Totals: agg-time-value of iotdb

SELECT device, max(s_7), max(s_3)
FROM g_0
WHERE device IN ('d_93', 'd_19')
  AND s_7 > -5.0
  AND s_3 > -5
  AND ts >= 1451748398690
  AND ts < 1451748648691
GROUP BY device

-- Buckets: group-by-time-desc of iotdb

SELECT _wstart, device, max(s_4), max(s_2)
FROM g_0
WHERE device IN ('d_67', 'd_0')
  AND ts >= 1451780802561
  AND ts < 1451781052561
PARTITION BY device INTERVAL(20s)
ORDER BY 1 DESC, 2 DESC

-- RowSet: set-operation of iotdb

SELECT ts, device, s_5, s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND ts >= 1451814465043
  AND ts < 1451814715044
UNION
SELECT ts, device, s_5, s_0
FROM g_0
WHERE device IN ('d_76', 'd_2')
  AND ts >= 1451814465043
  AND ts < 1451814715044

-- Rows: value-range of iotdb, with <

SELECT ts, device, s_6, s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 < -5.0
  AND s_4 < -5
  AND ts >= 1451767658298
  AND ts < 1451767908299

-- Rows: value-range of iotdb, with =

SELECT ts, device, s_6, s_4
FROM g_0
WHERE device IN ('d_87', 'd_77')
  AND s_6 = -5.0
  AND s_4 = -5
  AND ts >= 1451767658298
  AND ts < 1451767908299

-- Buckets: double-groupby-1 of cpu-only, from the aggregate cpu_30m

SELECT _wstart, hostname, sum(sum_usage_user) / sum(count_usage_user)
FROM cpu_30m
WHERE hostname IS NOT NULL
  AND ts >= 1451732400000
  AND ts < 1451775600000
PARTITION BY hostname INTERVAL(1h)
ORDER BY 1, 2

-- Buckets: cpu-max-all-1 of cpu-only, from the aggregate cpu_1h

SELECT _wstart, max(max_usage_user), max(max_usage_system), max(max_usage_idle), max(max_usage_nice), max(max_usage_iowait), max(max_usage_irq), max(max_usage_softirq), max(max_usage_steal), max(max_usage_guest), max(max_usage_guest_nice)
FROM cpu_1h
WHERE hostname IN ('host_49')
  AND ts >= 1451646000000
  AND ts < 1451674800000
INTERVAL(1h)
ORDER BY 1

-- Candles

SELECT _wstart, symbol, first(price), max(price), min(price), last(price), sum(CAST(size AS DOUBLE))
FROM trades
WHERE symbol IN ('ACME', 'O\'B')
  AND ts >= 1704465000000
  AND ts < 1704488400000
PARTITION BY symbol INTERVAL(1m)

-- Weighted

SELECT _wstart, symbol, sum(price * CAST(size AS DOUBLE)) / sum(CAST(size AS DOUBLE))
FROM trades
WHERE symbol IN ('ACME', 'O\'B')
  AND ts >= 1704465000000
  AND ts < 1704488400000
PARTITION BY symbol INTERVAL(1m)

-- AsOf

SELECT a.ts, a.symbol, a.price, b.bid, b.ask
FROM trades a
LEFT ASOF JOIN quotes b ON a.ts >= b.ts AND a.symbol = b.symbol
WHERE a.symbol IN ('ACME', 'O\'B')
  AND a.ts >= 1704465000000
  AND a.ts < 1704488400000

-- AsOf

SELECT a.ts, a.symbol, a.price, CASE WHEN CAST(a.ts AS BIGINT) - CAST(b.ts AS BIGINT) <= 1500 THEN b.bid END, CASE WHEN CAST(a.ts AS BIGINT) - CAST(b.ts AS BIGINT) <= 1500 THEN b.ask END
FROM trades a
LEFT ASOF JOIN quotes b ON a.ts >= b.ts AND a.symbol = b.symbol
WHERE a.symbol IN ('ACME', 'O\'B')
  AND a.ts >= 1704465000000
  AND a.ts < 1704488400000

-- Around

SELECT a.ts, a.symbol, a.price, avg(b.ask - b.bid)
FROM trades a
LEFT WINDOW JOIN quotes b ON a.symbol = b.symbol
WINDOW_OFFSET(-1s, 250a)
WHERE a.symbol IN ('ACME', 'O\'B')
  AND a.ts >= 1704465000000
  AND a.ts < 1704488400000

-- Movers

SELECT symbol, closing / opening - 1 AS moved
FROM (
SELECT symbol, first(price) AS opening, last(price) AS closing
FROM trades
WHERE symbol IN ('ACME', 'O\'B')
  AND ts >= 1704465000000
  AND ts < 1704488400000
GROUP BY symbol
)
WHERE opening <> 0
ORDER BY moved DESC, symbol
LIMIT 10

-- Gaps

SELECT CAST(CAST(ts AS BIGINT) - length AS TIMESTAMP), symbol, ts
FROM (
SELECT ts, symbol, diff(CAST(ts AS BIGINT)) AS length
FROM trades
WHERE symbol IN ('ACME', 'O\'B')
  AND ts >= 1704465000000
  AND ts < 1704488400000
PARTITION BY symbol
)
WHERE length > 30000

-- Profile

SELECT second, sum(part)
FROM (
SELECT CAST(begins AS BIGINT) % 86400000 / 1000 AS second, part
FROM (
SELECT _wstart AS begins, sum(CAST(size AS DOUBLE)) AS part
FROM trades
WHERE symbol IN ('ACME', 'O\'B')
  AND ts >= 1704465000000
  AND ts < 1704488400000
INTERVAL(5m)
)
)
GROUP BY second

-- Nth

n/a: query ticks: not supported: tsmark has no TDengine SQL for rows after an event: from a row, it looks to the one before it alone

