-- Buckets: single-groupby-5-8-1 of cpu-only

{"statements":"8 of the registry, and 5 for each partition that it names, up to 1 a series","values":["host_49","host_3","host_35","host_39","host_75","host_15","host_21","host_11"],"start":1451824006647,"end":1451827606647,"span":86400000,"narrow":{"key":0,"fields":[{"name":"usage_user","type":1},{"name":"usage_system","type":1},{"name":"usage_idle","type":1},{"name":"usage_nice","type":1},{"name":"usage_iowait","type":1}],"shown":5},"fold":{"buckets":true,"width":60000,"parts":[{"make":"max"},{"make":"max"},{"make":"max"},{"make":"max"},{"make":"max"}],"order":"asc"}}
SELECT tags_id, bucket, series_key FROM tsmark.cpu_series WHERE hostname = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

-- Buckets: double-groupby-1 of cpu-only

{"statements":"1 of the registry, and one for each partition that it names, up to 1 a series","present":[0],"start":1451733760647,"end":1451776960647,"span":86400000,"narrow":{"key":1,"fields":[{"name":"usage_user","type":1}],"shown":1},"fold":{"buckets":true,"width":3600000,"keys":[0],"parts":[{"make":"avg"}],"order":"asc"}}
SELECT tags_id, bucket, hostname, series_key FROM tsmark.cpu_series WHERE bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

-- Buckets: groupby-orderby-limit of cpu-only

{"statements":"1 of the registry, and one for each partition that it names","end":1451827606647,"span":86400000,"narrow":{"key":0,"fields":[{"name":"usage_user","type":1}],"shown":1},"fold":{"buckets":true,"width":60000,"parts":[{"make":"max"}],"order":"desc","limit":5}}
SELECT tags_id, bucket, series_key FROM tsmark.cpu_series WHERE bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns < ?

-- Rows: high-cpu-1 of cpu-only

{"statements":"1 of the registry, and 10 for each partition that it names, up to 2 a series","values":["host_35"],"start":1451777731139,"end":1451820931139,"span":86400000,"narrow":{"key":1,"fields":[{"name":"usage_user","type":1,"above":true},{"name":"usage_system","type":1},{"name":"usage_idle","type":1},{"name":"usage_nice","type":1},{"name":"usage_iowait","type":1},{"name":"usage_irq","type":1},{"name":"usage_softirq","type":1},{"name":"usage_steal","type":1},{"name":"usage_guest","type":1},{"name":"usage_guest_nice","type":1}],"shown":10,"above":90},"rows":{"tags":[0]}}
SELECT tags_id, bucket, hostname, series_key FROM tsmark.cpu_series WHERE hostname = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

-- Last: lastpoint of cpu-only

{"statements":"1 of the registry, and 10 for each partition that it names","present":[0],"span":86400000,"narrow":{"key":1,"fields":[{"name":"usage_user","type":1},{"name":"usage_system","type":1},{"name":"usage_idle","type":1},{"name":"usage_nice","type":1},{"name":"usage_iowait","type":1},{"name":"usage_irq","type":1},{"name":"usage_softirq","type":1},{"name":"usage_steal","type":1},{"name":"usage_guest","type":1},{"name":"usage_guest_nice","type":1}],"shown":10},"newest":{"tags":[0]}}
SELECT tags_id, bucket, hostname, series_key FROM tsmark.cpu_series
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1

-- Last: last-loc of iot

{"statements":"1 of the registry, and 8 for each partition that it names","values":["South"],"present":[0],"span":86400000,"narrow":{"key":2,"fields":[{"name":"longitude","type":2},{"name":"latitude","type":2},{"name":"elevation","type":2},{"name":"velocity","type":2},{"name":"heading","type":2},{"name":"grade","type":2},{"name":"fuel_consumption","type":2},{"name":"tsmark_null","type":1}],"shown":2},"newest":{"tags":[0,1]}}
SELECT tags_id, bucket, name, driver, series_key FROM tsmark.readings_series WHERE fleet = ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1

-- Last: low-fuel of iot

{"statements":"1 of the registry, and 4 for each partition that it names","values":["South"],"present":[0],"span":86400000,"narrow":{"key":2,"fields":[{"name":"fuel_state","type":2},{"name":"current_load","type":2},{"name":"status","type":1},{"name":"tsmark_null","type":1}],"shown":1},"newest":{"tags":[0,1],"having":{"Field":"fuel_state","Compare":1,"Value":0.1}}}
SELECT tags_id, bucket, name, driver, series_key FROM tsmark.diagnostics_series WHERE fleet = ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1

-- Last: high-load of iot

{"statements":"1 of the registry, and 4 for each partition that it names","values":["South"],"present":[0],"span":86400000,"narrow":{"key":3,"fields":[{"name":"current_load","type":2},{"name":"fuel_state","type":2},{"name":"status","type":1},{"name":"tsmark_null","type":1}],"shown":1},"newest":{"tags":[0,1],"having":{"Field":"current_load","Compare":0,"Value":0.9},"over":3}}
SELECT tags_id, bucket, name, driver, load_capacity, series_key FROM tsmark.diagnostics_series WHERE fleet = ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? ORDER BY timestamp_ns DESC LIMIT 1

-- Means: stationary-trucks of iot

{"statements":"1 of the registry, and 8 for each partition that it names, up to 1 a series","values":["West"],"present":[0],"start":1451736049647,"end":1451736649647,"span":86400000,"narrow":{"key":1,"fields":[{"name":"velocity","type":2},{"name":"latitude","type":2},{"name":"longitude","type":2},{"name":"elevation","type":2},{"name":"heading","type":2},{"name":"grade","type":2},{"name":"fuel_consumption","type":2},{"name":"tsmark_null","type":1}],"shown":1},"fold":{"keys":[0],"parts":[{"make":"avg"}],"having":{"part":0,"Field":"velocity","Compare":1,"Value":1}}}
SELECT tags_id, bucket, name, series_key FROM tsmark.readings_series WHERE fleet = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

-- ActiveUnits: long-driving-sessions of iot

n/a: query long-driving-sessions: not supported: it reads the result of another query, and CQL has no subqueries

-- Means: avg-vs-projected-fuel-consumption of iot

{"statements":"1 of the registry, and 2 for each partition that it names","present":[3,1,0],"span":86400000,"narrow":{"key":2,"fields":[{"name":"fuel_consumption","type":2},{"name":"velocity","type":2,"above":true}],"shown":1,"above":1},"fold":{"keys":[0],"parts":[{"make":"avg"},{"make":"tag","tag":1}]}}
SELECT tags_id, bucket, fleet, nominal_fuel_consumption, series_key, name FROM tsmark.readings_series
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ?
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ?

-- ActiveHours: avg-daily-driving-duration of iot

n/a: query avg-daily-driving-duration: not supported: it reads the result of another query, and CQL has no subqueries

-- Sessions: avg-daily-driving-session of iot

n/a: query avg-daily-driving-session: not supported: it reads the result of another query, and CQL has no subqueries

-- UnitMeans: avg-load of iot

{"statements":"1 of the registry, and 4 for each partition that it names","present":[0,1,2,3],"span":86400000,"narrow":{"key":4,"fields":[{"name":"current_load","type":2},{"name":"fuel_state","type":2},{"name":"status","type":1},{"name":"tsmark_null","type":1}],"shown":1},"fold":{"keys":[0,1,2],"unit":4,"over":3,"parts":[{"make":"avg"}]}}
SELECT tags_id, bucket, fleet, model, load_capacity, name, series_key FROM tsmark.diagnostics_series
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ?
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ?

-- ActiveShare: daily-activity of iot

n/a: query daily-activity: not supported: it reads the result of another query, and CQL has no subqueries

-- Starts: breakdown-frequency of iot

n/a: query breakdown-frequency: not supported: it reads the result of another query, and CQL has no subqueries

-- Rows: precise-point of iotdb

{"statements":"2 of the registry, and 2 for each partition that it names, up to 1 a series","values":["d_85","d_70"],"start":1451841740000,"end":1451841740001,"span":86400000,"narrow":{"key":1,"fields":[{"name":"s_7","type":2},{"name":"s_4","type":1}],"shown":2},"rows":{"tags":[0]}}
SELECT tags_id, bucket, device, series_key FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

-- Rows: value-range of iotdb

{"statements":"2 of the registry, and 2 for each partition that it names, up to 1 a series","values":["d_87","d_77"],"start":1451767658298,"end":1451767908299,"span":86400000,"narrow":{"key":1,"fields":[{"name":"s_6","type":6,"above":true},{"name":"s_4","type":1,"above":true}],"shown":2,"above":-5},"rows":{"tags":[0]}}
SELECT tags_id, bucket, device, series_key FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_float WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

-- AnyRows: value-range-limit of iotdb

{"statements":"2 of the registry, and 2 for each partition that it names, up to 1 a series","values":["d_41","d_46"],"start":1451861829909,"end":1451862079910,"span":86400000,"narrow":{"key":1,"fields":[{"name":"s_5","type":6,"above":true},{"name":"s_6","type":6,"above":true}],"shown":2,"above":-5},"rows":{"tags":[0],"limit":100}}
SELECT tags_id, bucket, device, series_key FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_float WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_float WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

-- Totals: agg-time-value of iotdb

{"statements":"2 of the registry, and 2 for each partition that it names, up to 1 a series","values":["d_93","d_19"],"present":[0],"start":1451748398690,"end":1451748648691,"span":86400000,"narrow":{"key":1,"fields":[{"name":"s_7","type":2,"above":true},{"name":"s_3","type":5,"above":true}],"shown":2,"above":-5},"fold":{"keys":[0],"parts":[{"make":"max"},{"make":"max"}]}}
SELECT tags_id, bucket, device, series_key FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_double WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

-- Buckets: group-by-time-desc of iotdb

{"statements":"2 of the registry, and 2 for each partition that it names, up to 1 a series","values":["d_67","d_0"],"present":[0],"start":1451780802561,"end":1451781052561,"span":86400000,"narrow":{"key":1,"fields":[{"name":"s_4","type":1},{"name":"s_2","type":5}],"shown":2},"fold":{"buckets":true,"width":20000,"keys":[0],"parts":[{"make":"max"},{"make":"max"}],"order":"desc"}}
SELECT tags_id, bucket, device, series_key FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

-- RowSet: set-operation of iotdb

n/a: query set-operation: not supported: CQL has no UNION, INTERSECT or EXCEPT

-- Rows: value-range of iotdb, with <

{"statements":"2 of the registry, and 2 for each partition that it names, up to 1 a series","values":["d_87","d_77"],"start":1451767658298,"end":1451767908299,"span":86400000,"narrow":{"key":1,"fields":[{"name":"s_6","type":6,"above":true},{"name":"s_4","type":1,"above":true}],"shown":2,"above":-5,"compare":1},"rows":{"tags":[0]}}
SELECT tags_id, bucket, device, series_key FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_float WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

-- Rows: value-range of iotdb, with =

{"statements":"2 of the registry, and 2 for each partition that it names, up to 1 a series","values":["d_87","d_77"],"start":1451767658298,"end":1451767908299,"span":86400000,"narrow":{"key":1,"fields":[{"name":"s_6","type":6,"above":true},{"name":"s_4","type":1,"above":true}],"shown":2,"above":-5,"compare":3},"rows":{"tags":[0]}}
SELECT tags_id, bucket, device, series_key FROM tsmark.g_0_series WHERE device = ? AND bucket >= ? AND bucket <= ? ALLOW FILTERING
SELECT timestamp_ns, value FROM tsmark.series_float WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?
SELECT timestamp_ns, value FROM tsmark.series_bigint WHERE series_id = ? AND timestamp_ns >= ? AND timestamp_ns < ?

