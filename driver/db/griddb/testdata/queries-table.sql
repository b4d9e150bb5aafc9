-- Buckets: single-groupby-5-8-1 of cpu-only

{"statements":"1 of the registry, and 1 for each series that it names","registry":"cpu_series","columns":[1,2,3,4,5,6],"fold":{"buckets":true,"width":60000,"parts":[{"make":"max"},{"make":"max"},{"make":"max"},{"make":"max"},{"make":"max"}],"order":"asc"}}
SELECT * WHERE "_key" = 'host_49' OR "_key" = 'host_3' OR "_key" = 'host_35' OR "_key" = 'host_39' OR "_key" = 'host_75' OR "_key" = 'host_15' OR "_key" = 'host_21' OR "_key" = 'host_11'
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-03T12:26:46.646325Z') AND "time" < TIMESTAMP_US('2016-01-03T13:26:46.646325Z')

-- Buckets: double-groupby-1 of cpu-only

{"statements":"1 of the registry, and 1 for each series that it names","registry":"cpu_series","tags":[4],"present":[0],"columns":[1,2],"fold":{"buckets":true,"width":3600000,"keys":[0],"parts":[{"make":"avg"}],"order":"asc"}}
SELECT *
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-02T11:22:40.646325Z') AND "time" < TIMESTAMP_US('2016-01-02T23:22:40.646325Z')

-- Buckets: groupby-orderby-limit of cpu-only

{"statements":"1 of the registry, and 1 for each series that it names, for as many windows of time as the answer needs","registry":"cpu_series","columns":[1,2],"windows":{"from":1451606400000000000,"to":1451827606646325000,"width":300000000000,"back":true},"fold":{"buckets":true,"width":60000,"parts":[{"make":"max"}],"order":"desc","limit":5}}
SELECT *
SELECT * WHERE "series" = $series AND "time" >= $from AND "time" < $to

-- Rows: high-cpu-1 of cpu-only

{"statements":"1 of the registry, and 1 for each series that it names","registry":"cpu_series","tags":[4],"columns":[1,2,3,4,5,6,7,8,9,10,11],"rows":{"tags":[0]}}
SELECT * WHERE "_key" = 'host_35'
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-02T23:35:31.138978Z') AND "time" < TIMESTAMP_US('2016-01-03T11:35:31.138978Z') AND "usage_user" > 90

-- Last: lastpoint of cpu-only

{"statements":"1 of the registry, and 1 for each series that it names","registry":"cpu_series","tags":[4],"present":[0],"columns":[1,2,3,4,5,6,7,8,9,10,11],"newest":{"tags":[0]}}
SELECT *
SELECT * WHERE "series" = $series ORDER BY "time" DESC LIMIT 1

-- Last: last-loc of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[4,6],"present":[0],"columns":[1,3,2],"newest":{"tags":[0,1]}}
SELECT * WHERE "fleet" = 'South'
SELECT * WHERE "series" = $series ORDER BY "time" DESC LIMIT 1

-- Last: low-fuel of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"diagnostics_series","tags":[4,6],"present":[0],"columns":[1,2],"newest":{"tags":[0,1],"having":{"Field":"fuel_state","Compare":1,"Value":0.1}}}
SELECT * WHERE "fleet" = 'South'
SELECT * WHERE "series" = $series ORDER BY "time" DESC LIMIT 1

-- Last: high-load of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"diagnostics_series","tags":[4,6,9],"present":[0],"columns":[1,3],"newest":{"tags":[0,1],"having":{"Field":"current_load","Compare":0,"Value":0.9},"over":3}}
SELECT * WHERE "fleet" = 'South'
SELECT * WHERE "series" = $series ORDER BY "time" DESC LIMIT 1

-- Means: stationary-trucks of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[4],"present":[0],"columns":[1,5],"fold":{"keys":[0],"parts":[{"make":"avg"}],"having":{"part":0,"Field":"velocity","Compare":1,"Value":1}}}
SELECT * WHERE "fleet" = 'West'
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-02T12:00:49.646325Z') AND "time" < TIMESTAMP_US('2016-01-02T12:10:49.646325Z')

-- ActiveUnits: long-driving-sessions of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[4],"present":[0],"columns":[1,5],"fold":{"buckets":true,"width":600000,"keys":[0],"parts":[{"make":"avg"}],"activity":{"shape":"units","value":1,"more":22}}}
SELECT * WHERE "fleet" = 'West'
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-01T20:11:20.646325Z') AND "time" < TIMESTAMP_US('2016-01-02T00:11:20.646325Z')

-- Means: avg-vs-projected-fuel-consumption of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[5,11,4],"present":[2,1,0],"columns":[1,8],"fold":{"keys":[0],"parts":[{"make":"avg"},{"make":"tag","tag":1}]}}
SELECT *
SELECT * WHERE "series" = $series AND "velocity" > 1.0

-- ActiveHours: avg-daily-driving-duration of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[4],"present":[0],"columns":[1,5],"fold":{"buckets":true,"width":600000,"keys":[0],"parts":[{"make":"avg"}],"activity":{"shape":"hours","value":1}}}
SELECT *
SELECT * WHERE "series" = $series

-- Sessions: avg-daily-driving-session of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[4],"present":[0],"columns":[1,5],"fold":{"buckets":true,"width":600000,"keys":[0],"parts":[{"make":"avg"}],"activity":{"shape":"sessions","value":5},"order":"asc"}}
SELECT *
SELECT * WHERE "series" = $series

-- UnitMeans: avg-load of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"diagnostics_series","tags":[5,7,9,4],"present":[0,1,2,3],"columns":[1,3],"fold":{"keys":[0,1,2],"unit":4,"over":3,"parts":[{"make":"avg"}]}}
SELECT *
SELECT * WHERE "series" = $series

-- ActiveShare: daily-activity of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"diagnostics_series","tags":[5,7,4],"present":[0,1,2],"columns":[1,4],"fold":{"buckets":true,"width":600000,"keys":[0,1,2],"parts":[{"make":"avg"}],"activity":{"shape":"share","compare":1,"value":1},"order":"asc"}}
SELECT *
SELECT * WHERE "series" = $series

-- Starts: breakdown-frequency of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"diagnostics_series","tags":[7,4],"present":[0,1],"columns":[1,4],"fold":{"buckets":true,"width":600000,"keys":[0,1],"parts":[{"make":"zeros"}],"activity":{"shape":"starts","compare":2,"value":0.5}}}
SELECT *
SELECT * WHERE "series" = $series

-- Rows: precise-point of iotdb

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"columns":[1,9,6],"rows":{"tags":[0]}}
SELECT * WHERE "_key" = 'd_85' OR "_key" = 'd_70'
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-03T17:22:20.000000Z') AND "time" < TIMESTAMP_US('2016-01-03T17:22:20.000001Z')

-- Rows: value-range of iotdb

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"columns":[1,8,6],"rows":{"tags":[0]}}
SELECT * WHERE "_key" = 'd_87' OR "_key" = 'd_77'
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-02T20:47:38.298000Z') AND "time" < TIMESTAMP_US('2016-01-02T20:51:48.298001Z') AND "s_6" > -5.0 AND "s_4" > -5

-- AnyRows: value-range-limit of iotdb

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"columns":[1,7,8],"rows":{"tags":[0],"limit":100}}
SELECT * WHERE "_key" = 'd_41' OR "_key" = 'd_46'
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-03T22:57:09.909000Z') AND "time" < TIMESTAMP_US('2016-01-03T23:01:19.909001Z') AND "s_5" > -5.0 AND "s_6" > -5.0 LIMIT 100

-- Totals: agg-time-value of iotdb

{"statements":"1 of the registry, and 3 for each series that it names","registry":"g_0_series","tags":[4],"present":[0],"columns":[],"partial":true,"fold":{"keys":[0],"parts":[{"make":"max"},{"make":"max"}]}}
SELECT * WHERE "_key" = 'd_93' OR "_key" = 'd_19'
SELECT COUNT(*) WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-02T15:26:38.690000Z') AND "time" < TIMESTAMP_US('2016-01-02T15:30:48.690001Z') AND "s_7" > -5.0 AND "s_3" > -5
SELECT MAX("s_7") WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-02T15:26:38.690000Z') AND "time" < TIMESTAMP_US('2016-01-02T15:30:48.690001Z') AND "s_7" > -5.0 AND "s_3" > -5
SELECT MAX("s_3") WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-02T15:26:38.690000Z') AND "time" < TIMESTAMP_US('2016-01-02T15:30:48.690001Z') AND "s_7" > -5.0 AND "s_3" > -5

-- Buckets: group-by-time-desc of iotdb

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"present":[0],"columns":[1,6,4],"fold":{"buckets":true,"width":20000,"keys":[0],"parts":[{"make":"max"},{"make":"max"}],"order":"desc"}}
SELECT * WHERE "_key" = 'd_67' OR "_key" = 'd_0'
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-03T00:26:42.561000Z') AND "time" < TIMESTAMP_US('2016-01-03T00:30:52.561000Z')

-- RowSet: set-operation of iotdb

n/a: query set-operation: not supported: TQL has no UNION, INTERSECT or EXCEPT

-- Rows: value-range of iotdb, with <

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"columns":[1,8,6],"rows":{"tags":[0]}}
SELECT * WHERE "_key" = 'd_87' OR "_key" = 'd_77'
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-02T20:47:38.298000Z') AND "time" < TIMESTAMP_US('2016-01-02T20:51:48.298001Z') AND "s_6" < -5.0 AND "s_4" < -5

-- Rows: value-range of iotdb, with =

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"columns":[1,8,6],"rows":{"tags":[0]}}
SELECT * WHERE "_key" = 'd_87' OR "_key" = 'd_77'
SELECT * WHERE "series" = $series AND "time" >= TIMESTAMP_US('2016-01-02T20:47:38.298000Z') AND "time" < TIMESTAMP_US('2016-01-02T20:51:48.298001Z') AND "s_6" = -5.0 AND "s_4" = -5

