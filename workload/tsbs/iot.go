package tsbs

import (
	"time"

	"github.com/tsmark/tsmark/query"
)

// The tables and tags that the iot queries are about.
const (
	readingsTable    = "readings"
	diagnosticsTable = "diagnostics"
	truckTag         = "name"
	truckPrefix      = "truck_"
	fleetTag         = "fleet"
	modelTag         = "model"
	driverTag        = "driver"
	capacityTag      = "load_capacity"
	consumptionTag   = "nominal_fuel_consumption"
	tenMinutes       = 10 * time.Minute
)

// iotTypes lists the types in TSBS's order. Filters use a row's own tags, and NULL never matches;
// trucks are identified by name. If TSBS's text does not match its stated purpose, the type
// implements the purpose: see docs/tsbs-errata.md.
func iotTypes() []queryType {
	last := func(fields ...string) query.Last {
		return query.Last{By: truckTag, Tags: []string{driverTag}, Fields: fields}
	}
	lastHaving := func(c query.RatioCondition) query.Last {
		s := last(c.Field)
		s.Having = &c
		return s
	}
	driving := func(velocity float64) query.Activity {
		return query.Activity{Unit: truckTag, Width: tenMinutes, Field: "velocity", Value: velocity}
	}
	status := func(a query.Activity) query.Activity {
		a.Unit, a.Width, a.Field = truckTag, tenMinutes, "status"
		return a
	}
	stationary := query.Means{Group: []string{truckTag}, Fields: []string{"velocity"},
		Having: &query.Condition{Field: "velocity", Compare: query.Less, Value: 1}}
	consumption := query.Means{Group: []string{fleetTag}, Fields: []string{"fuel_consumption"}, MeanTags: []string{consumptionTag}}
	load := query.UnitMeans{Group: []string{fleetTag, modelTag, capacityTag}, Unit: truckTag, Fields: []string{"current_load"}, Over: capacityTag}
	idle := query.ActiveShare{Activity: status(query.Activity{Compare: query.Less, Value: 1}), Group: []string{fleetTag, modelTag}}
	broken := query.Starts{Activity: status(query.Activity{Zeros: true, Compare: query.AtLeast, Value: 0.5}), Group: []string{modelTag}}

	const r, d = readingsTable, diagnosticsTable
	types := []queryType{
		{name: "last-loc", core: true, help: "newest position of each truck of a fleet", table: r, fleet: true, shape: last("longitude", "latitude")},
		{name: "single-last-loc", help: "newest position of 1 truck", table: r, hosts: 1, shape: last("longitude", "latitude")},
		{name: "low-fuel", core: true, help: "trucks of a fleet whose newest fuel state is below 10 %", table: d, fleet: true,
			shape: lastHaving(query.RatioCondition{Condition: query.Condition{Field: "fuel_state", Compare: query.Less, Value: 0.1}})},
		{name: "high-load", help: "trucks of a fleet whose newest load is above 90 % of their capacity", table: d, fleet: true,
			shape: lastHaving(query.RatioCondition{Condition: query.Condition{Field: "current_load", Value: 0.9}, Over: capacityTag})},
		{name: "stationary-trucks", core: true, help: "trucks of a fleet with a mean velocity below 1 in 10 minutes", table: r, fleet: true, window: tenMinutes, shape: stationary},
		{name: "long-driving-sessions", core: true, help: "trucks of a fleet that drove in more than 22 of the 10-minute buckets of 4 hours", table: r, fleet: true, window: 4 * time.Hour,
			shape: query.ActiveUnits{Activity: driving(1), More: 22}},
		{name: "long-daily-sessions", help: "trucks of a fleet that drove in more than 60 of the 10-minute buckets of 24 hours", table: r, fleet: true, window: 24 * time.Hour,
			shape: query.ActiveUnits{Activity: driving(1), More: 60}},
		{name: "avg-vs-projected-fuel-consumption", core: true, help: "mean and nominal fuel consumption of driving trucks, per fleet", table: r, shape: consumption,
			above: &query.ValueFilter{Field: "velocity", Value: 1}, present: []string{truckTag, consumptionTag}},
		{name: "avg-daily-driving-duration", core: true, help: "mean hours driven a day, per truck", table: r, shape: query.ActiveHours{Activity: driving(1)}},
		{name: "avg-daily-driving-session", core: true, help: "mean length of driving sessions, per truck and day", table: r, shape: query.Sessions{Activity: driving(5)}},
		{name: "avg-load", core: true, help: "mean load over capacity, per fleet and model", table: d, shape: load},
		{name: "daily-activity", core: true, help: "share of a day in which trucks were in order, per fleet, model and day", table: d, shape: idle},
		{name: "breakdown-frequency", core: true, help: "how often trucks broke down, per model", table: d, shape: broken},
	}
	for i := range types {
		types[i].tag, types[i].prefix = truckTag, truckPrefix
	}
	return types
}
