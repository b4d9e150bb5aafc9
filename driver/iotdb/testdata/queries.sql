-- Buckets: single-groupby-5-8-1 of cpu-only

n/a: query single-groupby-5-8-1: not supported: several values of hostname together: GROUP BY LEVEL folds the devices of one path pattern, and each value is a pattern of its own

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

n/a: query last-loc: not supported: several devices share the values of name, and are no group of which the tree model can tell that

-- Last: low-fuel of iot

n/a: query low-fuel: not supported: several devices share the values of name, and are no group of which the tree model can tell that

-- Last: high-load of iot

n/a: query high-load: not supported: several devices share the values of name, and are no group of which the tree model can tell that

-- Means: stationary-trucks of iot

n/a: query stationary-trucks: not supported: several devices share the values of name, and are no group of which the tree model can tell that

-- ActiveUnits: long-driving-sessions of iot

n/a: query long-driving-sessions: not supported: the tree model has no subqueries: it aggregates rows, not what was aggregated

-- Means: avg-vs-projected-fuel-consumption of iot

n/a: query avg-vs-projected-fuel-consumption: not supported: a condition on values of several devices together: in the tree model it were one on all of them at once

-- ActiveHours: avg-daily-driving-duration of iot

n/a: query avg-daily-driving-duration: not supported: the tree model has no subqueries: it aggregates rows, not what was aggregated

-- Sessions: avg-daily-driving-session of iot

n/a: query avg-daily-driving-session: not supported: the tree model has no subqueries: it aggregates rows, not what was aggregated

-- UnitMeans: avg-load of iot

n/a: query avg-load: not supported: the tree model has no subqueries: it aggregates rows, not what was aggregated

-- ActiveShare: daily-activity of iot

n/a: query daily-activity: not supported: the tree model has no subqueries: it aggregates rows, not what was aggregated

-- Starts: breakdown-frequency of iot

n/a: query breakdown-frequency: not supported: the tree model has no subqueries: it aggregates rows, not what was aggregated

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

