-- Buckets: single-groupby-5-8-1 of cpu-only

{"columns":6,"output":[{"from":"time"},{"from":"value"},{"from":"value","at":1},{"from":"value","at":2},{"from":"value","at":3},{"from":"value","at":4}],"names":["v0","v1","v2","v3","v4","v5"],"counted":5}
SELECT max_value(usage_user) AS v0, max_value(usage_system) AS v1, max_value(usage_idle) AS v2, max_value(usage_nice) AS v3, max_value(usage_iowait) AS v4, count(usage_user) AS v5
FROM root.tsmark.cpu.host_49.**, root.tsmark.cpu.host_3.**, root.tsmark.cpu.host_35.**, root.tsmark.cpu.host_39.**, root.tsmark.cpu.host_75.**, root.tsmark.cpu.host_15.**, root.tsmark.cpu.host_21.**, root.tsmark.cpu.host_11.**
WHERE time >= 1451824006647 AND time < 1451827606647
GROUP BY ([1451823960000, 1451827620000), 1m), LEVEL = 2
ORDER BY TIME ASC

-- Buckets: double-groupby-1 of cpu-only

{"columns":1,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"value"}]}
SELECT avg(usage_user)
FROM root.tsmark.cpu.**
WHERE time >= 1451733760647 AND time < 1451776960647
GROUP BY ([1451732400000, 1451779200000), 1h)
HAVING count(usage_user) > 0
ORDER BY TIME ASC, DEVICE ASC
ALIGN BY DEVICE

-- Buckets: groupby-orderby-limit of cpu-only

{"columns":1,"output":[{"from":"time"},{"from":"value"}],"range":"SELECT min_time(usage_user), max_time(usage_user)\nFROM root.tsmark.cpu.**\nGROUP BY LEVEL = 2","width":60000,"end":1451827606647}
SELECT max_value(usage_user)
FROM root.tsmark.cpu.**
WHERE time < 1451827606647
GROUP BY ($range, 1m), LEVEL = 2
HAVING count(usage_user) > 0
ORDER BY TIME DESC
LIMIT 5

-- Rows: high-cpu-1 of cpu-only

{"columns":10,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"value"},{"from":"value","at":1},{"from":"value","at":2},{"from":"value","at":3},{"from":"value","at":4},{"from":"value","at":5},{"from":"value","at":6},{"from":"value","at":7},{"from":"value","at":8},{"from":"value","at":9}]}
SELECT usage_user, usage_system, usage_idle, usage_nice, usage_iowait, usage_irq, usage_softirq, usage_steal, usage_guest, usage_guest_nice
FROM root.tsmark.cpu.host_35.**
WHERE usage_user > 90 AND time >= 1451777731139 AND time < 1451820931139
ALIGN BY DEVICE

-- Last: lastpoint of cpu-only

{"columns":10,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"value"},{"from":"value","at":1},{"from":"value","at":2},{"from":"value","at":3},{"from":"value","at":4},{"from":"value","at":5},{"from":"value","at":6},{"from":"value","at":7},{"from":"value","at":8},{"from":"value","at":9}],"last":["usage_user","usage_system","usage_idle","usage_nice","usage_iowait","usage_irq","usage_softirq","usage_steal","usage_guest","usage_guest_nice"]}
SELECT LAST usage_user, usage_system, usage_idle, usage_nice, usage_iowait, usage_irq, usage_softirq, usage_steal, usage_guest, usage_guest_nice
FROM root.tsmark.cpu.**
ORDER BY TIMESERIES

-- Last: last-loc of iot

{"columns":4,"device":true,"skip":3,"present":[0],"output":[{"from":"tag"},{"from":"tag","at":2},{"from":"moment"},{"from":"value","at":1},{"from":"value","at":2}],"names":["v0","v1","v2","v3"],"fold":{"newest":{"tags":[0,1]}},"tags":2}
SELECT max_time(tsmark_row) AS v0, max_by(longitude, time) AS v1, max_by(latitude, time) AS v2, count(tsmark_row) AS v3
FROM root.tsmark.readings.*.South.**
HAVING count(tsmark_row) > 0
ALIGN BY DEVICE

-- Last: low-fuel of iot

{"columns":3,"device":true,"skip":3,"present":[0],"output":[{"from":"tag"},{"from":"tag","at":2},{"from":"moment"},{"from":"value","at":1}],"names":["v0","v1","v2"],"fold":{"newest":{"tags":[0,1],"having":{"Field":"fuel_state","Compare":1,"Value":0.1}}},"tags":2}
SELECT max_time(tsmark_row) AS v0, max_by(fuel_state, time) AS v1, count(tsmark_row) AS v2
FROM root.tsmark.diagnostics.*.South.**
HAVING count(tsmark_row) > 0
ALIGN BY DEVICE

-- Last: high-load of iot

{"columns":4,"device":true,"skip":3,"present":[0],"output":[{"from":"tag"},{"from":"tag","at":2},{"from":"value","at":2},{"from":"moment"},{"from":"value","at":1}],"names":["v0","v1","v2","v3"],"fold":{"newest":{"tags":[0,1],"having":{"Field":"current_load","Compare":0,"Value":0.9},"over":3}},"tags":3}
SELECT max_time(tsmark_row) AS v0, max_by(current_load, time) AS v1, max_by(load_capacity, time) AS v2, count(tsmark_row) AS v3
FROM root.tsmark.diagnostics.*.South.**
HAVING count(tsmark_row) > 0
ALIGN BY DEVICE

-- Means: stationary-trucks of iot

{"columns":3,"device":true,"skip":3,"present":[0],"output":[{"from":"tag"},{"from":"value"},{"from":"count","at":1}],"names":["v0","v1","v2"],"fold":{"fold":{"keys":[0],"parts":[{"make":"avg"}],"having":{"part":0,"Field":"velocity","Compare":1,"Value":1}}},"tags":1}
SELECT sum(velocity) AS v0, count(velocity) AS v1, count(tsmark_row) AS v2
FROM root.tsmark.readings.*.West.**
WHERE time >= 1451736049647 AND time < 1451736649647
HAVING count(tsmark_row) > 0
ALIGN BY DEVICE

-- ActiveUnits: long-driving-sessions of iot

n/a: query long-driving-sessions: not supported: the tree model has no subqueries: it aggregates rows, not aggregates

-- Means: avg-vs-projected-fuel-consumption of iot

{"columns":5,"device":true,"skip":3,"present":[0,1],"output":[{"from":"tag","at":1},{"from":"value"},{"from":"count","at":1},{"from":"value","at":2},{"from":"count","at":3}],"names":["v0","v1","v2","v3","v4"],"fold":{"fold":{"keys":[0],"parts":[{"make":"avg"},{"make":"avg"}]}},"tags":1}
SELECT sum(fuel_consumption) AS v0, count(fuel_consumption) AS v1, sum(nominal_fuel_consumption) AS v2, count(nominal_fuel_consumption) AS v3, count(tsmark_row) AS v4
FROM root.tsmark.readings.**
WHERE velocity > 1.0 AND nominal_fuel_consumption IS NOT NULL
HAVING count(tsmark_row) > 0
ALIGN BY DEVICE

-- ActiveHours: avg-daily-driving-duration of iot

n/a: query avg-daily-driving-duration: not supported: the tree model has no subqueries: it aggregates rows, not aggregates

-- Sessions: avg-daily-driving-session of iot

n/a: query avg-daily-driving-session: not supported: the tree model has no subqueries: it aggregates rows, not aggregates

-- UnitMeans: avg-load of iot

n/a: query avg-load: not supported: the tree model has no subqueries: it aggregates rows, not aggregates

-- ActiveShare: daily-activity of iot

n/a: query daily-activity: not supported: the tree model has no subqueries: it aggregates rows, not aggregates

-- Starts: breakdown-frequency of iot

n/a: query breakdown-frequency: not supported: the tree model has no subqueries: it aggregates rows, not aggregates

-- Rows: precise-point of iotdb

{"columns":3,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"value"},{"from":"value","at":1}]}
SELECT s_7, s_4, s_0
FROM root.tsmark.g_0.d_85, root.tsmark.g_0.d_70
WHERE time = 1451841740000
ALIGN BY DEVICE

-- Rows: value-range of iotdb

{"columns":3,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"value"},{"from":"value","at":1}]}
SELECT s_6, s_4, s_0
FROM root.tsmark.g_0.d_87, root.tsmark.g_0.d_77
WHERE s_6 > -5.0 AND s_4 > -5 AND time >= 1451767658298 AND time < 1451767908299
ALIGN BY DEVICE

-- AnyRows: value-range-limit of iotdb

{"columns":3,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"value"},{"from":"value","at":1}]}
SELECT s_5, s_6, s_0
FROM root.tsmark.g_0.d_41, root.tsmark.g_0.d_46
WHERE s_5 > -5.0 AND s_6 > -5.0 AND time >= 1451861829909 AND time < 1451862079910
LIMIT 100
ALIGN BY DEVICE

-- Totals: agg-time-value of iotdb

{"columns":2,"device":true,"skip":3,"output":[{"from":"tag"},{"from":"value"},{"from":"value","at":1}]}
SELECT max_value(s_7), max_value(s_3)
FROM root.tsmark.g_0.d_93, root.tsmark.g_0.d_19
WHERE s_7 > -5.0 AND s_3 > -5 AND time >= 1451748398690 AND time < 1451748648691
HAVING count(s_0) > 0
ALIGN BY DEVICE

-- Buckets: group-by-time-desc of iotdb

{"columns":2,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"value"},{"from":"value","at":1}]}
SELECT max_value(s_4), max_value(s_2)
FROM root.tsmark.g_0.d_67, root.tsmark.g_0.d_0
WHERE time >= 1451780802561 AND time < 1451781052561
GROUP BY ([1451780800000, 1451781060000), 20s)
HAVING count(s_0) > 0
ORDER BY TIME DESC, DEVICE DESC
ALIGN BY DEVICE

-- RowSet: set-operation of iotdb

n/a: query set-operation: not supported: the tree model has no set operations

-- Rows: value-range of iotdb, with <

{"columns":3,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"value"},{"from":"value","at":1}]}
SELECT s_6, s_4, s_0
FROM root.tsmark.g_0.d_87, root.tsmark.g_0.d_77
WHERE s_6 < -5.0 AND s_4 < -5 AND time >= 1451767658298 AND time < 1451767908299
ALIGN BY DEVICE

-- Rows: value-range of iotdb, with =

{"columns":3,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"value"},{"from":"value","at":1}]}
SELECT s_6, s_4, s_0
FROM root.tsmark.g_0.d_87, root.tsmark.g_0.d_77
WHERE s_6 = -5.0 AND s_4 = -5 AND time >= 1451767658298 AND time < 1451767908299
ALIGN BY DEVICE

-- Buckets: double-groupby-1 of cpu-only, from the aggregate cpu_30m

{"columns":2,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"ratio","over":1}]}
SELECT sum(sum_usage_user), sum(count_usage_user)
FROM root.tsmark.cpu_30m.**
GROUP BY ([1451732400000, 1451775600000), 1h)
HAVING count(row_count) > 0
ORDER BY TIME ASC, DEVICE ASC
ALIGN BY DEVICE

-- Buckets: cpu-max-all-1 of cpu-only, from the aggregate cpu_1h

{"columns":10,"device":true,"skip":3,"output":[{"from":"time"},{"from":"value"},{"from":"value","at":1},{"from":"value","at":2},{"from":"value","at":3},{"from":"value","at":4},{"from":"value","at":5},{"from":"value","at":6},{"from":"value","at":7},{"from":"value","at":8},{"from":"value","at":9}]}
SELECT max_value(max_usage_user), max_value(max_usage_system), max_value(max_usage_idle), max_value(max_usage_nice), max_value(max_usage_iowait), max_value(max_usage_irq), max_value(max_usage_softirq), max_value(max_usage_steal), max_value(max_usage_guest), max_value(max_usage_guest_nice)
FROM root.tsmark.cpu_1h.host_49.**
GROUP BY ([1451646000000, 1451674800000), 1h)
HAVING count(row_count) > 0
ORDER BY TIME ASC
ALIGN BY DEVICE

-- Candles

{"columns":5,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"value"},{"from":"value","at":1},{"from":"value","at":2},{"from":"value","at":3},{"from":"value","at":4}]}
SELECT first_value(price), max_value(price), min_value(price), last_value(price), sum(size)
FROM root.tsmark.trades.ACME.**, root.tsmark.trades.`O'B`.**
GROUP BY ([1704465000000, 1704488400000), 1m)
HAVING count(price) > 0
ALIGN BY DEVICE

-- Weighted

{"columns":2,"device":true,"skip":3,"output":[{"from":"time"},{"from":"tag"},{"from":"ratio","over":1}]}
SELECT sum(price * size), sum(size)
FROM root.tsmark.trades.ACME.**, root.tsmark.trades.`O'B`.**
GROUP BY ([1704465000000, 1704488400000), 1m)
HAVING count(price) > 0
ALIGN BY DEVICE

-- AsOf

n/a: query ticks: not supported: tsmark has no statement of the tree model for as-of joins: it compares no row with another one, and groups by intervals of time alone

-- AsOf

n/a: query ticks: not supported: tsmark has no statement of the tree model for as-of joins: it compares no row with another one, and groups by intervals of time alone

-- Around

n/a: query ticks: not supported: tsmark has no statement of the tree model for window joins: it compares no row with another one, and groups by intervals of time alone

-- Movers

n/a: query ticks: not supported: the largest quotients of aggregates: IoTDB 2.0.1 refuses their order (Raw data and aggregation hybrid query is not supported, error 701)

-- Gaps

n/a: query ticks: not supported: tsmark has no statement of the tree model for gaps between rows: it compares no row with another one, and groups by intervals of time alone

-- Profile

n/a: query ticks: not supported: tsmark has no statement of the tree model for sums by time of day: it compares no row with another one, and groups by intervals of time alone

-- Nth

n/a: query ticks: not supported: tsmark has no statement of the tree model for rows after an event: it compares no row with another one, and groups by intervals of time alone

