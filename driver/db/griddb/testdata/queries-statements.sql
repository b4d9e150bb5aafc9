-- Buckets: single-groupby-5-8-1 of cpu-only

{"statements":"1 of the registry, and 6 for each series that it names and for each of 61 buckets","registry":"cpu_series","columns":[],"partial":true,"windows":{"from":1451824006646325000,"to":1451827606646325000,"width":60000000000},"fold":{"buckets":true,"width":60000,"parts":[{"make":"max"},{"make":"max"},{"make":"max"},{"make":"max"},{"make":"max"}],"order":"asc"}}
SELECT * WHERE "_key" = 'host_49' OR "_key" = 'host_3' OR "_key" = 'host_35' OR "_key" = 'host_39' OR "_key" = 'host_75' OR "_key" = 'host_15' OR "_key" = 'host_21' OR "_key" = 'host_11'
SELECT COUNT(*) WHERE "time" >= $from AND "time" < $to
SELECT MAX("usage_user") WHERE "time" >= $from AND "time" < $to
SELECT MAX("usage_system") WHERE "time" >= $from AND "time" < $to
SELECT MAX("usage_idle") WHERE "time" >= $from AND "time" < $to
SELECT MAX("usage_nice") WHERE "time" >= $from AND "time" < $to
SELECT MAX("usage_iowait") WHERE "time" >= $from AND "time" < $to

-- Buckets: double-groupby-1 of cpu-only

{"statements":"1 of the registry, and 1 for each series that it names","registry":"cpu_series","tags":[4],"present":[0],"columns":[0,1],"fold":{"buckets":true,"width":3600000,"keys":[0],"parts":[{"make":"avg"}],"order":"asc"}}
SELECT *
SELECT * WHERE "time" >= TIMESTAMP('2016-01-02T11:22:40.647Z') AND "time" < TIMESTAMP('2016-01-02T23:22:40.647Z')

-- Buckets: groupby-orderby-limit of cpu-only

{"statements":"1 of the registry, and 2 for each series that it names and for each of 3687 buckets","registry":"cpu_series","columns":[],"partial":true,"windows":{"from":1451606400000000000,"to":1451827606646325000,"width":60000000000},"fold":{"buckets":true,"width":60000,"parts":[{"make":"max"}],"order":"desc","limit":5}}
SELECT *
SELECT COUNT(*) WHERE "time" >= $from AND "time" < $to
SELECT MAX("usage_user") WHERE "time" >= $from AND "time" < $to

-- Rows: high-cpu-1 of cpu-only

{"statements":"1 of the registry, and 1 for each series that it names","registry":"cpu_series","tags":[4],"columns":[0,1,2,3,4,5,6,7,8,9,10],"rows":{"tags":[0]}}
SELECT * WHERE "_key" = 'host_35'
SELECT * WHERE "time" >= TIMESTAMP('2016-01-02T23:35:31.139Z') AND "time" < TIMESTAMP('2016-01-03T11:35:31.139Z') AND "usage_user" > 90

-- Last: lastpoint of cpu-only

{"statements":"1 of the registry, and 1 for each series that it names","registry":"cpu_series","tags":[4],"present":[0],"columns":[0,1,2,3,4,5,6,7,8,9,10],"newest":{"tags":[0]}}
SELECT *
SELECT TIME_PREV(*, TIMESTAMP('2262-04-11T23:47:16.000Z'))

-- Last: last-loc of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[4,6],"present":[0],"columns":[0,2,1],"newest":{"tags":[0,1]}}
SELECT * WHERE "fleet" = 'South'
SELECT TIME_PREV(*, TIMESTAMP('2262-04-11T23:47:16.000Z'))

-- Last: low-fuel of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"diagnostics_series","tags":[4,6],"present":[0],"columns":[0,1],"newest":{"tags":[0,1],"having":{"Field":"fuel_state","Compare":1,"Value":0.1}}}
SELECT * WHERE "fleet" = 'South'
SELECT TIME_PREV(*, TIMESTAMP('2262-04-11T23:47:16.000Z'))

-- Last: high-load of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"diagnostics_series","tags":[4,6,9],"present":[0],"columns":[0,2],"newest":{"tags":[0,1],"having":{"Field":"current_load","Compare":0,"Value":0.9},"over":3}}
SELECT * WHERE "fleet" = 'South'
SELECT TIME_PREV(*, TIMESTAMP('2262-04-11T23:47:16.000Z'))

-- Means: stationary-trucks of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[4],"present":[0],"columns":[0,4],"fold":{"keys":[0],"parts":[{"make":"avg"}],"having":{"part":0,"Field":"velocity","Compare":1,"Value":1}}}
SELECT * WHERE "fleet" = 'West'
SELECT * WHERE "time" >= TIMESTAMP('2016-01-02T12:00:49.647Z') AND "time" < TIMESTAMP('2016-01-02T12:10:49.647Z')

-- ActiveUnits: long-driving-sessions of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[4],"present":[0],"columns":[0,4],"fold":{"buckets":true,"width":600000,"keys":[0],"parts":[{"make":"avg"}],"activity":{"shape":"units","value":1,"more":22}}}
SELECT * WHERE "fleet" = 'West'
SELECT * WHERE "time" >= TIMESTAMP('2016-01-01T20:11:20.647Z') AND "time" < TIMESTAMP('2016-01-02T00:11:20.647Z')

-- Means: avg-vs-projected-fuel-consumption of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[5,11,4],"present":[2,1,0],"columns":[0,7],"fold":{"keys":[0],"parts":[{"make":"avg"},{"make":"tag","tag":1}]}}
SELECT *
SELECT * WHERE "velocity" > 1.0

-- ActiveHours: avg-daily-driving-duration of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[4],"present":[0],"columns":[0,4],"fold":{"buckets":true,"width":600000,"keys":[0],"parts":[{"make":"avg"}],"activity":{"shape":"hours","value":1}}}
SELECT *
SELECT *

-- Sessions: avg-daily-driving-session of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"readings_series","tags":[4],"present":[0],"columns":[0,4],"fold":{"buckets":true,"width":600000,"keys":[0],"parts":[{"make":"avg"}],"activity":{"shape":"sessions","value":5},"order":"asc"}}
SELECT *
SELECT *

-- UnitMeans: avg-load of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"diagnostics_series","tags":[5,7,9,4],"present":[0,1,2,3],"columns":[0,2],"fold":{"keys":[0,1,2],"unit":4,"over":3,"parts":[{"make":"avg"}]}}
SELECT *
SELECT *

-- ActiveShare: daily-activity of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"diagnostics_series","tags":[5,7,4],"present":[0,1,2],"columns":[0,3],"fold":{"buckets":true,"width":600000,"keys":[0,1,2],"parts":[{"make":"avg"}],"activity":{"shape":"share","compare":1,"value":1},"order":"asc"}}
SELECT *
SELECT *

-- Starts: breakdown-frequency of iot

{"statements":"1 of the registry, and 1 for each series that it names","registry":"diagnostics_series","tags":[7,4],"present":[0,1],"columns":[0,3],"fold":{"buckets":true,"width":600000,"keys":[0,1],"parts":[{"make":"zeros"}],"activity":{"shape":"starts","compare":2,"value":0.5}}}
SELECT *
SELECT *

-- Rows: precise-point of iotdb

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"columns":[0,8,5],"rows":{"tags":[0]}}
SELECT * WHERE "_key" = 'd_85' OR "_key" = 'd_70'
SELECT * WHERE "time" >= TIMESTAMP('2016-01-03T17:22:20.000Z') AND "time" < TIMESTAMP('2016-01-03T17:22:20.001Z')

-- Rows: value-range of iotdb

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"columns":[0,7,5],"rows":{"tags":[0]}}
SELECT * WHERE "_key" = 'd_87' OR "_key" = 'd_77'
SELECT * WHERE "time" >= TIMESTAMP('2016-01-02T20:47:38.298Z') AND "time" < TIMESTAMP('2016-01-02T20:51:48.299Z') AND "s_6" > -5.0 AND "s_4" > -5

-- AnyRows: value-range-limit of iotdb

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"columns":[0,6,7],"rows":{"tags":[0],"limit":100}}
SELECT * WHERE "_key" = 'd_41' OR "_key" = 'd_46'
SELECT * WHERE "time" >= TIMESTAMP('2016-01-03T22:57:09.909Z') AND "time" < TIMESTAMP('2016-01-03T23:01:19.910Z') AND "s_5" > -5.0 AND "s_6" > -5.0 LIMIT 100

-- Totals: agg-time-value of iotdb

{"statements":"1 of the registry, and 3 for each series that it names","registry":"g_0_series","tags":[4],"present":[0],"columns":[],"partial":true,"fold":{"keys":[0],"parts":[{"make":"max"},{"make":"max"}]}}
SELECT * WHERE "_key" = 'd_93' OR "_key" = 'd_19'
SELECT COUNT(*) WHERE "time" >= TIMESTAMP('2016-01-02T15:26:38.690Z') AND "time" < TIMESTAMP('2016-01-02T15:30:48.691Z') AND "s_7" > -5.0 AND "s_3" > -5
SELECT MAX("s_7") WHERE "time" >= TIMESTAMP('2016-01-02T15:26:38.690Z') AND "time" < TIMESTAMP('2016-01-02T15:30:48.691Z') AND "s_7" > -5.0 AND "s_3" > -5
SELECT MAX("s_3") WHERE "time" >= TIMESTAMP('2016-01-02T15:26:38.690Z') AND "time" < TIMESTAMP('2016-01-02T15:30:48.691Z') AND "s_7" > -5.0 AND "s_3" > -5

-- Buckets: group-by-time-desc of iotdb

{"statements":"1 of the registry, and 3 for each series that it names and for each of 13 buckets","registry":"g_0_series","tags":[4],"present":[0],"columns":[],"partial":true,"windows":{"from":1451780802561000000,"to":1451781052561000000,"width":20000000000},"fold":{"buckets":true,"width":20000,"keys":[0],"parts":[{"make":"max"},{"make":"max"}],"order":"desc"}}
SELECT * WHERE "_key" = 'd_67' OR "_key" = 'd_0'
SELECT COUNT(*) WHERE "time" >= $from AND "time" < $to
SELECT MAX("s_4") WHERE "time" >= $from AND "time" < $to
SELECT MAX("s_2") WHERE "time" >= $from AND "time" < $to

-- RowSet: set-operation of iotdb

n/a: query set-operation: not supported: TQL has no UNION, INTERSECT or EXCEPT

-- Rows: value-range of iotdb, with <

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"columns":[0,7,5],"rows":{"tags":[0]}}
SELECT * WHERE "_key" = 'd_87' OR "_key" = 'd_77'
SELECT * WHERE "time" >= TIMESTAMP('2016-01-02T20:47:38.298Z') AND "time" < TIMESTAMP('2016-01-02T20:51:48.299Z') AND "s_6" < -5.0 AND "s_4" < -5

-- Rows: value-range of iotdb, with =

{"statements":"1 of the registry, and 1 for each series that it names","registry":"g_0_series","tags":[4],"columns":[0,7,5],"rows":{"tags":[0]}}
SELECT * WHERE "_key" = 'd_87' OR "_key" = 'd_77'
SELECT * WHERE "time" >= TIMESTAMP('2016-01-02T20:47:38.298Z') AND "time" < TIMESTAMP('2016-01-02T20:51:48.299Z') AND "s_6" = -5.0 AND "s_4" = -5

