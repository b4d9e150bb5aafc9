-- Buckets: single-groupby-5-8-1 of cpu-only

// columns "_time", "usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait"
from(bucket: "tsmark")
  |> range(start: 2016-01-03T12:26:46.646325Z, stop: 2016-01-03T13:26:46.646325Z)
  |> filter(fn: (r) => r["_measurement"] == "cpu")
  |> filter(fn: (r) => r["_field"] == "usage_user" or r["_field"] == "usage_system" or r["_field"] == "usage_idle" or r["_field"] == "usage_nice" or r["_field"] == "usage_iowait")
  |> filter(fn: (r) => r["hostname"] == "host_49" or r["hostname"] == "host_3" or r["hostname"] == "host_35" or r["hostname"] == "host_39" or r["hostname"] == "host_75" or r["hostname"] == "host_15" or r["hostname"] == "host_21" or r["hostname"] == "host_11")
  |> aggregateWindow(every: 1m, fn: max, createEmpty: false, timeSrc: "_start")
  |> group(columns: ["_field"])
  |> keep(columns: ["_field", "_time", "_value", "_start", "_stop"])
  |> aggregateWindow(every: 1m, fn: max, createEmpty: false, timeSrc: "_start")
  |> keep(columns: ["_time", "_field", "_value"])
  |> group(columns: ["_field"])
  |> duplicate(column: "_time", as: "tsmark_key_0")
  |> keep(columns: ["tsmark_key_0", "_field", "_value"])
  |> pivot(rowKey: ["tsmark_key_0"], columnKey: ["_field"], valueColumn: "_value")
  |> rename(columns: {tsmark_key_0: "_time"})
  |> group()
  |> truncateTimeColumn(unit: 1m)
  |> sort(columns: ["_time"])

-- Buckets: double-groupby-1 of cpu-only

// columns "_time", "hostname", "_value"
from(bucket: "tsmark")
  |> range(start: 2016-01-02T11:22:40.646325Z, stop: 2016-01-02T23:22:40.646325Z)
  |> filter(fn: (r) => r["_measurement"] == "cpu")
  |> filter(fn: (r) => r["_field"] == "usage_user")
  |> filter(fn: (r) => exists r["hostname"])
  |> group(columns: ["hostname", "_field"])
  |> keep(columns: ["hostname", "_field", "_time", "_value", "_start", "_stop"])
  |> aggregateWindow(every: 1h, fn: mean, createEmpty: false, timeSrc: "_start")
  |> keep(columns: ["_time", "hostname", "_field", "_value"])
  |> group()
  |> truncateTimeColumn(unit: 1h)
  |> sort(columns: ["_time", "hostname"])

-- Buckets: groupby-orderby-limit of cpu-only

// columns "_time", "_value"
from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2016-01-03T13:26:46.646325Z)
  |> filter(fn: (r) => r["_measurement"] == "cpu")
  |> filter(fn: (r) => r["_field"] == "usage_user")
  |> aggregateWindow(every: 1m, fn: max, createEmpty: false, timeSrc: "_start")
  |> group(columns: ["_field"])
  |> keep(columns: ["_field", "_time", "_value", "_start", "_stop"])
  |> aggregateWindow(every: 1m, fn: max, createEmpty: false, timeSrc: "_start")
  |> keep(columns: ["_time", "_field", "_value"])
  |> group()
  |> sort(columns: ["_time"], desc: true)
  |> limit(n: 5)

-- Rows: high-cpu-1 of cpu-only

// columns "_time", "hostname", "usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq", "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice"
from(bucket: "tsmark")
  |> range(start: 2016-01-02T23:35:31.138978Z, stop: 2016-01-03T11:35:31.138978Z)
  |> filter(fn: (r) => r["_measurement"] == "cpu")
  |> filter(fn: (r) => r["_field"] == "usage_user" or r["_field"] == "usage_system" or r["_field"] == "usage_idle" or r["_field"] == "usage_nice" or r["_field"] == "usage_iowait" or r["_field"] == "usage_irq" or r["_field"] == "usage_softirq" or r["_field"] == "usage_steal" or r["_field"] == "usage_guest" or r["_field"] == "usage_guest_nice")
  |> filter(fn: (r) => r["hostname"] == "host_35")
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> filter(fn: (r) => exists r["usage_user"] and r["usage_user"] > 90)
  |> group()
  |> keep(columns: ["_time", "hostname", "usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq", "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice"])

-- Last: lastpoint of cpu-only

// columns "_time", "hostname", "usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq", "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice"
from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z)
  |> filter(fn: (r) => r["_measurement"] == "cpu")
  |> filter(fn: (r) => r["_field"] == "usage_user" or r["_field"] == "usage_system" or r["_field"] == "usage_idle" or r["_field"] == "usage_nice" or r["_field"] == "usage_iowait" or r["_field"] == "usage_irq" or r["_field"] == "usage_softirq" or r["_field"] == "usage_steal" or r["_field"] == "usage_guest" or r["_field"] == "usage_guest_nice")
  |> filter(fn: (r) => exists r["hostname"])
  |> last()
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> group(columns: ["hostname"])
  |> sort(columns: ["_time"], desc: true)
  |> limit(n: 1)
  |> group()
  |> keep(columns: ["_time", "hostname", "usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq", "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice"])

-- Last: last-loc of iot

// columns "_time", "name", "driver", "longitude", "latitude"
from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z)
  |> filter(fn: (r) => r["_measurement"] == "readings")
  |> filter(fn: (r) => r["_field"] == "longitude" or r["_field"] == "latitude" or r["_field"] == "load_capacity" or r["_field"] == "fuel_capacity" or r["_field"] == "nominal_fuel_consumption" or r["_field"] == "elevation" or r["_field"] == "velocity" or r["_field"] == "heading" or r["_field"] == "grade" or r["_field"] == "fuel_consumption" or r["_field"] == "tsmark_null")
  |> filter(fn: (r) => r["fleet"] == "South")
  |> filter(fn: (r) => exists r["name"])
  |> last()
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> group(columns: ["name"])
  |> sort(columns: ["_time"], desc: true)
  |> limit(n: 1)
  |> group()
  |> keep(columns: ["_time", "name", "driver", "longitude", "latitude"])

-- Last: low-fuel of iot

// columns "_time", "name", "driver", "fuel_state"
from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z)
  |> filter(fn: (r) => r["_measurement"] == "diagnostics")
  |> filter(fn: (r) => r["_field"] == "fuel_state" or r["_field"] == "load_capacity" or r["_field"] == "fuel_capacity" or r["_field"] == "nominal_fuel_consumption" or r["_field"] == "current_load" or r["_field"] == "status" or r["_field"] == "tsmark_null")
  |> filter(fn: (r) => r["fleet"] == "South")
  |> filter(fn: (r) => exists r["name"])
  |> last()
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> group(columns: ["name"])
  |> sort(columns: ["_time"], desc: true)
  |> limit(n: 1)
  |> group()
  |> filter(fn: (r) => exists r["fuel_state"] and float(v: r["fuel_state"]) < 0.1)
  |> keep(columns: ["_time", "name", "driver", "fuel_state"])

-- Last: high-load of iot

// columns "_time", "name", "driver", "current_load"
from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z)
  |> filter(fn: (r) => r["_measurement"] == "diagnostics")
  |> filter(fn: (r) => r["_field"] == "current_load" or r["_field"] == "load_capacity" or r["_field"] == "fuel_capacity" or r["_field"] == "nominal_fuel_consumption" or r["_field"] == "fuel_state" or r["_field"] == "status" or r["_field"] == "tsmark_null")
  |> filter(fn: (r) => r["fleet"] == "South")
  |> filter(fn: (r) => exists r["name"])
  |> last()
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> group(columns: ["name"])
  |> sort(columns: ["_time"], desc: true)
  |> limit(n: 1)
  |> group()
  |> filter(fn: (r) => exists r["current_load"] and exists r["load_capacity"] and float(v: r["current_load"]) / r["load_capacity"] > 0.9)
  |> keep(columns: ["_time", "name", "driver", "current_load"])

-- Means: stationary-trucks of iot

// columns "name", "velocity"
data = from(bucket: "tsmark")
  |> range(start: 2016-01-02T12:00:49.646325Z, stop: 2016-01-02T12:10:49.646325Z)
  |> filter(fn: (r) => r["_measurement"] == "readings")
  |> filter(fn: (r) => r["_field"] == "velocity" or r["_field"] == "load_capacity" or r["_field"] == "fuel_capacity" or r["_field"] == "nominal_fuel_consumption" or r["_field"] == "latitude" or r["_field"] == "longitude" or r["_field"] == "elevation" or r["_field"] == "heading" or r["_field"] == "grade" or r["_field"] == "fuel_consumption" or r["_field"] == "tsmark_null")
  |> filter(fn: (r) => r["fleet"] == "West")
  |> filter(fn: (r) => exists r["name"])

union(tables: [
  data |> filter(fn: (r) => r["_field"] == "velocity") |> group(columns: ["name", "_field"]) |> keep(columns: ["name", "_field", "_time", "_value", "_start", "_stop"]) |> mean() |> keep(columns: ["name", "_field", "_value"]),
  data |> filter(fn: (r) => r["_field"] == "load_capacity" or r["_field"] == "fuel_capacity" or r["_field"] == "nominal_fuel_consumption" or r["_field"] == "latitude" or r["_field"] == "longitude" or r["_field"] == "elevation" or r["_field"] == "heading" or r["_field"] == "grade" or r["_field"] == "fuel_consumption" or r["_field"] == "tsmark_null") |> group(columns: ["name", "_field"]) |> keep(columns: ["name", "_field", "_time", "_value", "_start", "_stop"]) |> count() |> keep(columns: ["name", "_field", "_value"]),
])
  |> group(columns: ["_field"])
  |> duplicate(column: "name", as: "tsmark_key_0")
  |> keep(columns: ["tsmark_key_0", "_field", "_value"])
  |> pivot(rowKey: ["tsmark_key_0"], columnKey: ["_field"], valueColumn: "_value")
  |> rename(columns: {tsmark_key_0: "name"})
  |> group()
  |> filter(fn: (r) => exists r["velocity"] and r["velocity"] < 1.0)

-- ActiveUnits: long-driving-sessions of iot

// columns "name"
from(bucket: "tsmark")
  |> range(start: 2016-01-01T20:11:20.646325Z, stop: 2016-01-02T00:11:20.646325Z)
  |> filter(fn: (r) => r["_measurement"] == "readings")
  |> filter(fn: (r) => r["_field"] == "velocity")
  |> filter(fn: (r) => r["fleet"] == "West")
  |> filter(fn: (r) => exists r["name"])
  |> group(columns: ["name", "_field"])
  |> keep(columns: ["name", "_field", "_time", "_value", "_start", "_stop"])
  |> aggregateWindow(every: 10m, fn: mean, createEmpty: false, timeSrc: "_start")
  |> filter(fn: (r) => r["_value"] > 1.0)
  |> group(columns: ["name"])
  |> count()
  |> filter(fn: (r) => r["_value"] > 22)
  |> group()

-- Means: avg-vs-projected-fuel-consumption of iot

// columns "fleet", "fuel_consumption", "nominal_fuel_consumption"
import "experimental"

data = from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z)
  |> filter(fn: (r) => r["_measurement"] == "readings")
  |> filter(fn: (r) => r["_field"] == "fuel_consumption" or r["_field"] == "nominal_fuel_consumption" or r["_field"] == "velocity")
  |> filter(fn: (r) => exists r["name"])
  |> filter(fn: (r) => exists r["fleet"])
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> filter(fn: (r) => exists r["velocity"] and r["velocity"] > 1.0)
  |> filter(fn: (r) => exists r["nominal_fuel_consumption"])
  |> map(fn: (r) => ({r with tsmark_row: 1}))
  |> experimental.unpivot()

union(tables: [
  data |> filter(fn: (r) => r["_field"] == "fuel_consumption" or r["_field"] == "nominal_fuel_consumption") |> group(columns: ["fleet", "_field"]) |> keep(columns: ["fleet", "_field", "_time", "_value", "_start", "_stop"]) |> mean() |> keep(columns: ["fleet", "_field", "_value"]),
  data |> filter(fn: (r) => r["_field"] == "tsmark_row") |> group(columns: ["fleet", "_field"]) |> keep(columns: ["fleet", "_field", "_time", "_value", "_start", "_stop"]) |> count() |> keep(columns: ["fleet", "_field", "_value"]),
])
  |> group(columns: ["_field"])
  |> duplicate(column: "fleet", as: "tsmark_key_0")
  |> keep(columns: ["tsmark_key_0", "_field", "_value"])
  |> pivot(rowKey: ["tsmark_key_0"], columnKey: ["_field"], valueColumn: "_value")
  |> rename(columns: {tsmark_key_0: "fleet"})
  |> group()

-- ActiveHours: avg-daily-driving-duration of iot

// columns "name", "_value"
from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z)
  |> filter(fn: (r) => r["_measurement"] == "readings")
  |> filter(fn: (r) => r["_field"] == "velocity")
  |> filter(fn: (r) => exists r["name"])
  |> group(columns: ["name", "_field"])
  |> keep(columns: ["name", "_field", "_time", "_value", "_start", "_stop"])
  |> aggregateWindow(every: 10m, fn: mean, createEmpty: false, timeSrc: "_start")
  |> filter(fn: (r) => r["_value"] > 1.0)
  |> aggregateWindow(every: 24h, fn: count, createEmpty: false, timeSrc: "_start")
  |> mean()
  |> map(fn: (r) => ({r with _value: r["_value"] * 0.16666666666666666}))
  |> group()

-- Sessions: avg-daily-driving-session of iot

// columns "_time", "name", "_value"
from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z)
  |> filter(fn: (r) => r["_measurement"] == "readings")
  |> filter(fn: (r) => r["_field"] == "velocity")
  |> filter(fn: (r) => exists r["name"])
  |> group(columns: ["name", "_field"])
  |> keep(columns: ["name", "_field", "_time", "_value", "_start", "_stop"])
  |> aggregateWindow(every: 10m, fn: mean, createEmpty: false, timeSrc: "_start")
  |> sort(columns: ["_time"])
  |> map(fn: (r) => ({r with _value: if r["_value"] > 5.0 then 1 else 0}))
  |> difference()
  |> filter(fn: (r) => r["_value"] != 0)
  |> elapsed(unit: 1ns)
  |> filter(fn: (r) => r["_value"] == -1)
  |> map(fn: (r) => ({r with _time: time(v: int(v: r["_time"]) - r.elapsed), _value: float(v: r.elapsed) / 1000000000.0}))
  |> truncateTimeColumn(unit: 24h)
  |> group(columns: ["_time", "name"])
  |> mean()
  |> group()
  |> sort(columns: ["_time", "name"])

-- UnitMeans: avg-load of iot

// columns "fleet", "model", "load_capacity", "current_load"
import "experimental"

data = from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z)
  |> filter(fn: (r) => r["_measurement"] == "diagnostics")
  |> filter(fn: (r) => r["_field"] == "current_load" or r["_field"] == "load_capacity")
  |> filter(fn: (r) => exists r["fleet"])
  |> filter(fn: (r) => exists r["model"])
  |> filter(fn: (r) => exists r["name"])
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> filter(fn: (r) => exists r["load_capacity"])
  |> group(columns: ["fleet", "model", "load_capacity", "name"])
  |> sort(columns: ["_time"])
  |> map(fn: (r) => ({r with tsmark_row: 1}))
  |> keep(columns: ["fleet", "model", "load_capacity", "name", "_time", "_start", "_stop", "current_load", "tsmark_row"])
  |> experimental.unpivot()

union(tables: [
  data |> filter(fn: (r) => r["_field"] == "current_load") |> group(columns: ["fleet", "model", "load_capacity", "name", "_field"]) |> keep(columns: ["fleet", "model", "load_capacity", "name", "_field", "_time", "_value", "_start", "_stop"]) |> mean() |> map(fn: (r) => ({r with _value: r["_value"] / r["load_capacity"]})) |> group(columns: ["fleet", "model", "load_capacity", "_field"]) |> mean() |> keep(columns: ["fleet", "model", "load_capacity", "_field", "_value"]),
  data |> filter(fn: (r) => r["_field"] == "tsmark_row") |> group(columns: ["fleet", "model", "load_capacity", "_field"]) |> keep(columns: ["fleet", "model", "load_capacity", "_field", "_time", "_value", "_start", "_stop"]) |> count() |> keep(columns: ["fleet", "model", "load_capacity", "_field", "_value"]),
])
  |> group(columns: ["_field"])
  |> duplicate(column: "fleet", as: "tsmark_key_0")
  |> duplicate(column: "model", as: "tsmark_key_1")
  |> duplicate(column: "load_capacity", as: "tsmark_key_2")
  |> keep(columns: ["tsmark_key_0", "tsmark_key_1", "tsmark_key_2", "_field", "_value"])
  |> pivot(rowKey: ["tsmark_key_0", "tsmark_key_1", "tsmark_key_2"], columnKey: ["_field"], valueColumn: "_value")
  |> rename(columns: {tsmark_key_0: "fleet", tsmark_key_1: "model", tsmark_key_2: "load_capacity"})
  |> group()

-- ActiveShare: daily-activity of iot

// columns "_time", "fleet", "model", "_value"
from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z)
  |> filter(fn: (r) => r["_measurement"] == "diagnostics")
  |> filter(fn: (r) => r["_field"] == "status")
  |> filter(fn: (r) => exists r["fleet"])
  |> filter(fn: (r) => exists r["model"])
  |> filter(fn: (r) => exists r["name"])
  |> group(columns: ["fleet", "model", "name", "_field"])
  |> keep(columns: ["fleet", "model", "name", "_field", "_time", "_value", "_start", "_stop"])
  |> aggregateWindow(every: 10m, fn: mean, createEmpty: false, timeSrc: "_start")
  |> filter(fn: (r) => r["_value"] < 1.0)
  |> group(columns: ["fleet", "model"])
  |> aggregateWindow(every: 24h, fn: count, createEmpty: false, timeSrc: "_start")
  |> map(fn: (r) => ({r with _value: float(v: r["_value"]) / 144.0}))
  |> group()
  |> sort(columns: ["_time", "fleet", "model"])

-- Starts: breakdown-frequency of iot

// columns "model", "_value"
from(bucket: "tsmark")
  |> range(start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z)
  |> filter(fn: (r) => r["_measurement"] == "diagnostics")
  |> filter(fn: (r) => r["_field"] == "status")
  |> filter(fn: (r) => exists r["model"])
  |> filter(fn: (r) => exists r["name"])
  |> group(columns: ["model", "name", "_field"])
  |> keep(columns: ["model", "name", "_field", "_time", "_value", "_start", "_stop"])
  |> map(fn: (r) => ({r with _value: if float(v: r["_value"]) == 0.0 then 1.0 else 0.0}))
  |> aggregateWindow(every: 10m, fn: mean, createEmpty: false, timeSrc: "_start")
  |> sort(columns: ["_time"])
  |> map(fn: (r) => ({r with _value: if r["_value"] >= 0.5 then 1 else 0}))
  |> difference()
  |> filter(fn: (r) => r["_value"] == 1)
  |> group(columns: ["model"])
  |> count()
  |> group()

-- Rows: precise-point of iotdb

// columns "_time", "device", "s_7", "s_4"
from(bucket: "tsmark")
  |> range(start: 2016-01-03T17:22:20Z, stop: 2016-01-03T17:22:20.000001Z)
  |> filter(fn: (r) => r["_measurement"] == "g_0")
  |> filter(fn: (r) => r["_field"] == "s_7" or r["_field"] == "s_4")
  |> filter(fn: (r) => r["device"] == "d_85" or r["device"] == "d_70")
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> group()
  |> keep(columns: ["_time", "device", "s_7", "s_4"])

-- Rows: value-range of iotdb

// columns "_time", "device", "s_6", "s_4"
from(bucket: "tsmark")
  |> range(start: 2016-01-02T20:47:38.298Z, stop: 2016-01-02T20:51:48.298001Z)
  |> filter(fn: (r) => r["_measurement"] == "g_0")
  |> filter(fn: (r) => r["_field"] == "s_6" or r["_field"] == "s_4")
  |> filter(fn: (r) => r["device"] == "d_87" or r["device"] == "d_77")
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> filter(fn: (r) => exists r["s_6"] and r["s_6"] > -5.0)
  |> filter(fn: (r) => exists r["s_4"] and r["s_4"] > -5)
  |> group()
  |> keep(columns: ["_time", "device", "s_6", "s_4"])

-- AnyRows: value-range-limit of iotdb

// columns "_time", "device", "s_5", "s_6"
from(bucket: "tsmark")
  |> range(start: 2016-01-03T22:57:09.909Z, stop: 2016-01-03T23:01:19.909001Z)
  |> filter(fn: (r) => r["_measurement"] == "g_0")
  |> filter(fn: (r) => r["_field"] == "s_5" or r["_field"] == "s_6")
  |> filter(fn: (r) => r["device"] == "d_41" or r["device"] == "d_46")
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> filter(fn: (r) => exists r["s_5"] and r["s_5"] > -5.0)
  |> filter(fn: (r) => exists r["s_6"] and r["s_6"] > -5.0)
  |> group()
  |> keep(columns: ["_time", "device", "s_5", "s_6"])
  |> limit(n: 100)

-- Totals: agg-time-value of iotdb

// columns "device", "s_7", "s_3"
import "experimental"

from(bucket: "tsmark")
  |> range(start: 2016-01-02T15:26:38.69Z, stop: 2016-01-02T15:30:48.690001Z)
  |> filter(fn: (r) => r["_measurement"] == "g_0")
  |> filter(fn: (r) => r["_field"] == "s_7" or r["_field"] == "s_3")
  |> filter(fn: (r) => r["device"] == "d_93" or r["device"] == "d_19")
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> filter(fn: (r) => exists r["s_7"] and r["s_7"] > -5.0)
  |> filter(fn: (r) => exists r["s_3"] and r["s_3"] > -5)
  |> experimental.unpivot()
  |> filter(fn: (r) => r["_field"] == "s_7" or r["_field"] == "s_3")
  |> group(columns: ["device", "_field"])
  |> keep(columns: ["device", "_field", "_time", "_value", "_start", "_stop"])
  |> max()
  |> keep(columns: ["device", "_field", "_value"])
  |> group(columns: ["_field"])
  |> duplicate(column: "device", as: "tsmark_key_0")
  |> keep(columns: ["tsmark_key_0", "_field", "_value"])
  |> pivot(rowKey: ["tsmark_key_0"], columnKey: ["_field"], valueColumn: "_value")
  |> rename(columns: {tsmark_key_0: "device"})
  |> group()

-- Buckets: group-by-time-desc of iotdb

// columns "_time", "device", "s_4", "s_2"
from(bucket: "tsmark")
  |> range(start: 2016-01-03T00:26:42.561Z, stop: 2016-01-03T00:30:52.561Z)
  |> filter(fn: (r) => r["_measurement"] == "g_0")
  |> filter(fn: (r) => r["_field"] == "s_4" or r["_field"] == "s_2")
  |> filter(fn: (r) => r["device"] == "d_67" or r["device"] == "d_0")
  |> aggregateWindow(every: 20s, fn: max, createEmpty: false, timeSrc: "_start")
  |> group(columns: ["device", "_field"])
  |> keep(columns: ["device", "_field", "_time", "_value", "_start", "_stop"])
  |> aggregateWindow(every: 20s, fn: max, createEmpty: false, timeSrc: "_start")
  |> keep(columns: ["_time", "device", "_field", "_value"])
  |> group(columns: ["_field"])
  |> duplicate(column: "_time", as: "tsmark_key_0")
  |> duplicate(column: "device", as: "tsmark_key_1")
  |> keep(columns: ["tsmark_key_0", "tsmark_key_1", "_field", "_value"])
  |> pivot(rowKey: ["tsmark_key_0", "tsmark_key_1"], columnKey: ["_field"], valueColumn: "_value")
  |> rename(columns: {tsmark_key_0: "_time", tsmark_key_1: "device"})
  |> group()
  |> truncateTimeColumn(unit: 20s)
  |> sort(columns: ["_time", "device"], desc: true)

-- RowSet: set-operation of iotdb

// columns "_time", "device", "s_5", "s_0"
rows = () => from(bucket: "tsmark")
  |> range(start: 2016-01-03T09:47:45.043Z, stop: 2016-01-03T09:51:55.043001Z)
  |> filter(fn: (r) => r["_measurement"] == "g_0")
  |> filter(fn: (r) => r["_field"] == "s_5" or r["_field"] == "s_0")
  |> filter(fn: (r) => r["device"] == "d_76" or r["device"] == "d_2")
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> group()
  |> keep(columns: ["_time", "device", "s_5", "s_0"])

union(tables: [
  rows() |> set(key: "tsmark_operand", value: "0"),
  rows() |> set(key: "tsmark_operand", value: "1"),
])
  |> group(columns: ["_time", "device", "s_5", "s_0"])
  |> limit(n: 1)
  |> group()

-- Rows: value-range of iotdb, with <

// columns "_time", "device", "s_6", "s_4"
from(bucket: "tsmark")
  |> range(start: 2016-01-02T20:47:38.298Z, stop: 2016-01-02T20:51:48.298001Z)
  |> filter(fn: (r) => r["_measurement"] == "g_0")
  |> filter(fn: (r) => r["_field"] == "s_6" or r["_field"] == "s_4")
  |> filter(fn: (r) => r["device"] == "d_87" or r["device"] == "d_77")
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> filter(fn: (r) => exists r["s_6"] and r["s_6"] < -5.0)
  |> filter(fn: (r) => exists r["s_4"] and r["s_4"] < -5)
  |> group()
  |> keep(columns: ["_time", "device", "s_6", "s_4"])

-- Rows: value-range of iotdb, with =

// columns "_time", "device", "s_6", "s_4"
from(bucket: "tsmark")
  |> range(start: 2016-01-02T20:47:38.298Z, stop: 2016-01-02T20:51:48.298001Z)
  |> filter(fn: (r) => r["_measurement"] == "g_0")
  |> filter(fn: (r) => r["_field"] == "s_6" or r["_field"] == "s_4")
  |> filter(fn: (r) => r["device"] == "d_87" or r["device"] == "d_77")
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> filter(fn: (r) => exists r["s_6"] and r["s_6"] == -5.0)
  |> filter(fn: (r) => exists r["s_4"] and r["s_4"] == -5)
  |> group()
  |> keep(columns: ["_time", "device", "s_6", "s_4"])

-- Buckets: double-groupby-1 of cpu-only, from the aggregate cpu_30m

// columns "_time", "hostname", "usage_user"
from(bucket: "tsmark")
  |> range(start: 2016-01-02T11:00:00Z, stop: 2016-01-02T23:00:00Z)
  |> filter(fn: (r) => r["_measurement"] == "cpu_30m")
  |> filter(fn: (r) => r["_field"] == "sum_usage_user" or r["_field"] == "count_usage_user")
  |> filter(fn: (r) => exists r["hostname"])
  |> aggregateWindow(every: 1h, fn: sum, createEmpty: false, timeSrc: "_start")
  |> group(columns: ["hostname", "_field"])
  |> keep(columns: ["hostname", "_field", "_time", "_value", "_start", "_stop"])
  |> aggregateWindow(every: 1h, fn: sum, createEmpty: false, timeSrc: "_start")
  |> keep(columns: ["_time", "hostname", "_field", "_value"])
  |> group(columns: ["_field"])
  |> duplicate(column: "_time", as: "tsmark_key_0")
  |> duplicate(column: "hostname", as: "tsmark_key_1")
  |> keep(columns: ["tsmark_key_0", "tsmark_key_1", "_field", "_value"])
  |> pivot(rowKey: ["tsmark_key_0", "tsmark_key_1"], columnKey: ["_field"], valueColumn: "_value")
  |> rename(columns: {tsmark_key_0: "_time", tsmark_key_1: "hostname"})
  |> group()
  |> sort(columns: ["_time", "hostname"])
  |> map(fn: (r) => ({r with usage_user: r["sum_usage_user"] / float(v: r["count_usage_user"])}))

-- Buckets: cpu-max-all-1 of cpu-only, from the aggregate cpu_1h

// columns "_time", "max_usage_user", "max_usage_system", "max_usage_idle", "max_usage_nice", "max_usage_iowait", "max_usage_irq", "max_usage_softirq", "max_usage_steal", "max_usage_guest", "max_usage_guest_nice"
from(bucket: "tsmark")
  |> range(start: 2016-01-01T11:00:00Z, stop: 2016-01-01T19:00:00Z)
  |> filter(fn: (r) => r["_measurement"] == "cpu_1h")
  |> filter(fn: (r) => r["_field"] == "max_usage_user" or r["_field"] == "max_usage_system" or r["_field"] == "max_usage_idle" or r["_field"] == "max_usage_nice" or r["_field"] == "max_usage_iowait" or r["_field"] == "max_usage_irq" or r["_field"] == "max_usage_softirq" or r["_field"] == "max_usage_steal" or r["_field"] == "max_usage_guest" or r["_field"] == "max_usage_guest_nice")
  |> filter(fn: (r) => r["hostname"] == "host_49")
  |> aggregateWindow(every: 1h, fn: max, createEmpty: false, timeSrc: "_start")
  |> group(columns: ["_field"])
  |> keep(columns: ["_field", "_time", "_value", "_start", "_stop"])
  |> aggregateWindow(every: 1h, fn: max, createEmpty: false, timeSrc: "_start")
  |> keep(columns: ["_time", "_field", "_value"])
  |> group(columns: ["_field"])
  |> duplicate(column: "_time", as: "tsmark_key_0")
  |> keep(columns: ["tsmark_key_0", "_field", "_value"])
  |> pivot(rowKey: ["tsmark_key_0"], columnKey: ["_field"], valueColumn: "_value")
  |> rename(columns: {tsmark_key_0: "_time"})
  |> group()
  |> sort(columns: ["_time"])

