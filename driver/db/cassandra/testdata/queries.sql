-- Buckets: single-groupby-5-8-1 of cpu-only

{"statements":"8 of the registry, and one for each partition that it names, up to 1 a series","values":["host_49","host_3","host_35","host_39","host_75","host_15","host_21","host_11"],"start":1451824006647,"end":1451827606647,"span":86400000,"fold":{"buckets":true,"width":60000,"parts":[{"make":"max"},{"make":"max"},{"make":"max"},{"make":"max"},{"make":"max"}],"order":"asc"}}
SELECT tags_id, bucket FROM tsmark.cpu_series WHERE hostname = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT floor(time, 1m), count(*), max(usage_user), max(usage_system), max(usage_idle), max(usage_nice), max(usage_iowait) FROM tsmark.cpu WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ? GROUP BY floor(time, 1m)

-- Buckets: double-groupby-1 of cpu-only

{"statements":"1 of the registry, and one for each partition that it names, up to 1 a series","present":[0],"start":1451733760647,"end":1451776960647,"span":86400000,"fold":{"buckets":true,"width":3600000,"keys":[0],"parts":[{"make":"avg"}],"order":"asc"}}
SELECT tags_id, bucket, hostname FROM tsmark.cpu_series WHERE bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT floor(time, 1h), count(*), sum(CAST(usage_user AS double)), count(usage_user) FROM tsmark.cpu WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ? GROUP BY floor(time, 1h)

-- Buckets: groupby-orderby-limit of cpu-only

{"statements":"1 of the registry, and one for each partition that it names","end":1451827606647,"span":86400000,"fold":{"buckets":true,"width":60000,"parts":[{"make":"max"}],"order":"desc","limit":5}}
SELECT tags_id, bucket FROM tsmark.cpu_series WHERE bucket <= ? ALLOW FILTERING
SELECT floor(time, 1m), count(*), max(usage_user) FROM tsmark.cpu WHERE tags_id = ? AND bucket = ? AND time < ? GROUP BY floor(time, 1m)

-- Rows: high-cpu-1 of cpu-only

{"statements":"1 of the registry, and one for each partition that it names, up to 2 a series","values":["host_35"],"start":1451777731139,"end":1451820931139,"above":[{"int":90}],"span":86400000,"rows":{"tags":[0]}}
SELECT tags_id, bucket, hostname FROM tsmark.cpu_series WHERE hostname = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT time, usage_user, usage_system, usage_idle, usage_nice, usage_iowait, usage_irq, usage_softirq, usage_steal, usage_guest, usage_guest_nice FROM tsmark.cpu WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ? AND usage_user > ? ALLOW FILTERING

-- Last: lastpoint of cpu-only

{"statements":"1 of the registry, and one for each partition that it names","present":[0],"span":86400000,"newest":{"tags":[0]}}
SELECT tags_id, bucket, hostname FROM tsmark.cpu_series
SELECT time, usage_user, usage_system, usage_idle, usage_nice, usage_iowait, usage_irq, usage_softirq, usage_steal, usage_guest, usage_guest_nice FROM tsmark.cpu WHERE tags_id = ? AND bucket = ? LIMIT 1

-- Last: last-loc of iot

{"statements":"1 of the registry, and one for each partition that it names","values":["South"],"present":[0],"span":86400000,"newest":{"tags":[0,1]}}
SELECT tags_id, bucket, name, driver FROM tsmark.readings_series WHERE fleet = ? ALLOW FILTERING
SELECT time, longitude, latitude FROM tsmark.readings WHERE tags_id = ? AND bucket = ? LIMIT 1

-- Last: low-fuel of iot

{"statements":"1 of the registry, and one for each partition that it names","values":["South"],"present":[0],"span":86400000,"newest":{"tags":[0,1],"having":{"Field":"fuel_state","Compare":1,"Value":0.1}}}
SELECT tags_id, bucket, name, driver FROM tsmark.diagnostics_series WHERE fleet = ? ALLOW FILTERING
SELECT time, fuel_state FROM tsmark.diagnostics WHERE tags_id = ? AND bucket = ? LIMIT 1

-- Last: high-load of iot

{"statements":"1 of the registry, and one for each partition that it names","values":["South"],"present":[0],"span":86400000,"newest":{"tags":[0,1],"having":{"Field":"current_load","Compare":0,"Value":0.9},"over":3}}
SELECT tags_id, bucket, name, driver, load_capacity FROM tsmark.diagnostics_series WHERE fleet = ? ALLOW FILTERING
SELECT time, current_load FROM tsmark.diagnostics WHERE tags_id = ? AND bucket = ? LIMIT 1

-- Means: stationary-trucks of iot

{"statements":"1 of the registry, and one for each partition that it names, up to 1 a series","values":["West"],"present":[0],"start":1451736049647,"end":1451736649647,"span":86400000,"fold":{"keys":[0],"parts":[{"make":"avg"}],"having":{"part":0,"Field":"velocity","Compare":1,"Value":1}}}
SELECT tags_id, bucket, name FROM tsmark.readings_series WHERE fleet = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT count(*), sum(velocity), count(velocity) FROM tsmark.readings WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ?

-- ActiveUnits: long-driving-sessions of iot

n/a: query long-driving-sessions: not supported: it reads the result of another query, and CQL has no subqueries

-- Means: avg-vs-projected-fuel-consumption of iot

{"statements":"1 of the registry, and one for each partition that it names","present":[2,1,0],"above":[{"double":1}],"span":86400000,"fold":{"keys":[0],"parts":[{"make":"avg"},{"make":"tag","tag":1}]}}
SELECT tags_id, bucket, fleet, nominal_fuel_consumption, name FROM tsmark.readings_series
SELECT count(*), sum(fuel_consumption), count(fuel_consumption) FROM tsmark.readings WHERE tags_id = ? AND bucket = ? AND velocity > ? AND velocity < NaN ALLOW FILTERING

-- ActiveHours: avg-daily-driving-duration of iot

n/a: query avg-daily-driving-duration: not supported: it reads the result of another query, and CQL has no subqueries

-- Sessions: avg-daily-driving-session of iot

n/a: query avg-daily-driving-session: not supported: it reads the result of another query, and CQL has no subqueries

-- UnitMeans: avg-load of iot

{"statements":"1 of the registry, and one for each partition that it names","present":[0,1,2,3],"span":86400000,"fold":{"keys":[0,1,2],"unit":4,"over":3,"parts":[{"make":"avg"}]}}
SELECT tags_id, bucket, fleet, model, load_capacity, name FROM tsmark.diagnostics_series
SELECT count(*), sum(current_load), count(current_load) FROM tsmark.diagnostics WHERE tags_id = ? AND bucket = ?

-- ActiveShare: daily-activity of iot

n/a: query daily-activity: not supported: it reads the result of another query, and CQL has no subqueries

-- Starts: breakdown-frequency of iot

n/a: query breakdown-frequency: not supported: it reads the result of another query, and CQL has no subqueries

-- Rows: precise-point of iotdb

{"statements":"2 of the registry, and one for each partition that it names, up to 1 a series","values":["d_85","d_70"],"start":1451841740000,"end":1451841740001,"span":86400000,"rows":{"tags":[0]}}
SELECT tags_id, bucket, device FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT time, s_7, s_4 FROM tsmark.g_0 WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ?

-- Rows: value-range of iotdb

{"statements":"2 of the registry, and one for each partition that it names, up to 1 a series","values":["d_87","d_77"],"start":1451767658298,"end":1451767908299,"above":[{"float":-5},{"int":-5}],"span":86400000,"rows":{"tags":[0]}}
SELECT tags_id, bucket, device FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT time, s_6, s_4 FROM tsmark.g_0 WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ? AND s_6 > ? AND s_6 < NaN AND s_4 > ? ALLOW FILTERING

-- AnyRows: value-range-limit of iotdb

{"statements":"2 of the registry, and one for each partition that it names, up to 1 a series","values":["d_41","d_46"],"start":1451861829909,"end":1451862079910,"above":[{"float":-5},{"float":-5}],"span":86400000,"rows":{"tags":[0],"limit":100}}
SELECT tags_id, bucket, device FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT time, s_5, s_6 FROM tsmark.g_0 WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ? AND s_5 > ? AND s_5 < NaN AND s_6 > ? AND s_6 < NaN LIMIT 100 ALLOW FILTERING

-- Totals: agg-time-value of iotdb

{"statements":"2 of the registry, and one for each partition that it names, up to 1 a series","values":["d_93","d_19"],"present":[0],"start":1451748398690,"end":1451748648691,"above":[{"double":-5},{"int32":-5}],"span":86400000,"fold":{"keys":[0],"parts":[{"make":"max"},{"make":"max"}]}}
SELECT tags_id, bucket, device FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT count(*), max(s_7), max(s_3) FROM tsmark.g_0 WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ? AND s_7 > ? AND s_7 < NaN AND s_3 > ? ALLOW FILTERING

-- Buckets: group-by-time-desc of iotdb

{"statements":"2 of the registry, and one for each partition that it names, up to 1 a series","values":["d_67","d_0"],"present":[0],"start":1451780802561,"end":1451781052561,"span":86400000,"fold":{"buckets":true,"width":20000,"keys":[0],"parts":[{"make":"max"},{"make":"max"}],"order":"desc"}}
SELECT tags_id, bucket, device FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT floor(time, 20s), count(*), max(s_4), max(s_2) FROM tsmark.g_0 WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ? GROUP BY floor(time, 20s)

-- RowSet: set-operation of iotdb

n/a: query set-operation: not supported: CQL has no UNION, INTERSECT or EXCEPT

-- Rows: value-range of iotdb, with <

{"statements":"2 of the registry, and one for each partition that it names, up to 1 a series","values":["d_87","d_77"],"start":1451767658298,"end":1451767908299,"above":[{"float":-5},{"int":-5}],"span":86400000,"rows":{"tags":[0]}}
SELECT tags_id, bucket, device FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT time, s_6, s_4 FROM tsmark.g_0 WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ? AND s_6 < ? AND s_4 < ? ALLOW FILTERING

-- Rows: value-range of iotdb, with =

{"statements":"2 of the registry, and one for each partition that it names, up to 1 a series","values":["d_87","d_77"],"start":1451767658298,"end":1451767908299,"above":[{"float":-5},{"int":-5}],"span":86400000,"rows":{"tags":[0]}}
SELECT tags_id, bucket, device FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT time, s_6, s_4 FROM tsmark.g_0 WHERE tags_id = ? AND bucket = ? AND time >= ? AND time < ? AND s_6 = ? AND s_4 = ? ALLOW FILTERING

