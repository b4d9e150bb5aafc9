package tsbs

import (
	"time"

	"github.com/tsmark/tsmark/query"
)

// The tables and tags that the iot questions are about.
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

// iotTypes lists the types in TSBS's order. Filters use a row's own tags, and
// NULL never matches; trucks are told apart by name. Where TSBS's text does not
// ask what it means to, its intent is asked: docs/tsbs-errata.md has the list.
func iotTypes() []queryType {
	last := func(fields ...string) func(*query.Query) {
		return func(q *query.Query) {
			q.Shape, q.GroupBy, q.Tags, q.Fields = query.Last, truckTag, []string{driverTag}, fields
		}
	}
	lastHaving := func(c query.Condition) func(*query.Query) {
		return func(q *query.Query) {
			last(c.Field)(q)
			q.Having = &c
		}
	}
	means := func(set func(*query.Query), fields ...string) func(*query.Query) {
		return func(q *query.Query) {
			q.Shape, q.Fields = query.Means, fields
			set(q)
		}
	}
	activity := func(a query.Active, group ...string) func(*query.Query) {
		return func(q *query.Query) {
			q.Shape, q.Unit, q.Bucket, q.Active, q.Group = query.Activity, truckTag, tenMinutes, &a, group
			if a.Summary == query.SessionPerDay || a.Summary == query.SharePerDay {
				q.Order = query.Ascending
			}
		}
	}
	driving := func(s query.Summary, velocity float64, more int) func(*query.Query) {
		return activity(query.Active{Field: "velocity", Value: velocity, Summary: s, More: more})
	}
	stationary := means(func(q *query.Query) {
		q.Group = []string{truckTag}
		q.Having = &query.Condition{Field: "velocity", Below: true, Value: 1}
	}, "velocity")
	consumption := means(func(q *query.Query) {
		q.Group, q.MeanTags, q.Present = []string{fleetTag}, []string{consumptionTag}, []string{truckTag, consumptionTag}
		q.Above = &query.Above{Field: "velocity", Value: 1}
	}, "fuel_consumption")
	load := means(func(q *query.Query) {
		q.Group, q.Unit, q.Over = []string{fleetTag, modelTag, capacityTag}, truckTag, capacityTag
	}, "current_load")
	idle := query.Active{Field: "status", Below: true, Value: 1, Summary: query.SharePerDay}
	broken := query.Active{Field: "status", Zeros: true, AtLeast: true, Value: 0.5, Summary: query.Starts}

	const r, d = readingsTable, diagnosticsTable
	types := []queryType{
		{name: "last-loc", help: "newest position of each truck of a fleet", table: r, fleet: true, shape: last("longitude", "latitude")},
		{name: "single-last-loc", help: "newest position of 1 truck", table: r, hosts: 1, shape: last("longitude", "latitude")},
		{name: "low-fuel", help: "trucks of a fleet whose newest fuel state is below 10 %", table: d, fleet: true,
			shape: lastHaving(query.Condition{Field: "fuel_state", Below: true, Value: 0.1})},
		{name: "high-load", help: "trucks of a fleet whose newest load is above 90 % of their capacity", table: d, fleet: true,
			shape: lastHaving(query.Condition{Field: "current_load", Over: capacityTag, Value: 0.9})},
		{name: "stationary-trucks", help: "trucks of a fleet with a mean velocity below 1 in 10 minutes", table: r, fleet: true, window: tenMinutes, shape: stationary},
		{name: "long-driving-sessions", help: "trucks of a fleet that drove in more than 22 of the 10-minute buckets of 4 hours", table: r, fleet: true, window: 4 * time.Hour,
			shape: driving(query.UnitsWithMore, 1, 22)},
		{name: "long-daily-sessions", help: "trucks of a fleet that drove in more than 60 of the 10-minute buckets of 24 hours", table: r, fleet: true, window: 24 * time.Hour,
			shape: driving(query.UnitsWithMore, 1, 60)},
		{name: "avg-vs-projected-fuel-consumption", help: "mean and nominal fuel consumption of driving trucks, per fleet", table: r, shape: consumption},
		{name: "avg-daily-driving-duration", help: "mean hours driven a day, per truck", table: r, shape: driving(query.HoursPerDay, 1, 0)},
		{name: "avg-daily-driving-session", help: "mean length of driving sessions, per truck and day", table: r, shape: driving(query.SessionPerDay, 5, 0)},
		{name: "avg-load", help: "mean load over capacity, per fleet and model", table: d, shape: load},
		{name: "daily-activity", help: "share of a day in which trucks were in order, per fleet, model and day", table: d, shape: activity(idle, fleetTag, modelTag)},
		{name: "breakdown-frequency", help: "how often trucks broke down, per model", table: d, shape: activity(broken, modelTag)},
	}
	for i := range types {
		types[i].tag, types[i].prefix = truckTag, truckPrefix
	}
	return types
}
