package tsbs

import (
	"time"

	"github.com/tsmark/tsmark/query"
)

// The table and tag that the devops questions are about, and the threshold of
// the high-cpu types.
const (
	cpuTable   = "cpu"
	hostTag    = "hostname"
	hostPrefix = "host_"
	highCPU    = 90
	lastBucket = 5 // groupby-orderby-limit returns so many
)

// devopsTypes lists the types in TSBS's order. The figures are those of its
// code; its README differs for some.
func devopsTypes() []queryType {
	buckets := func(a query.Aggregate, width time.Duration) func(*query.Query) {
		return func(q *query.Query) {
			q.Shape, q.Aggregate, q.Bucket, q.Order = query.Buckets, a, width, query.Ascending
		}
	}
	maxPerMinute := buckets(query.Max, time.Minute)
	maxPerHour := buckets(query.Max, time.Hour)
	avgPerHostAndHour := func(q *query.Query) {
		buckets(query.Avg, time.Hour)(q)
		q.GroupBy = hostTag
	}
	newestMinutes := func(q *query.Query) {
		maxPerMinute(q)
		q.Start, q.Order, q.Limit = time.Time{}, query.Descending, lastBucket
	}
	aboveThreshold := func(q *query.Query) {
		q.Shape, q.GroupBy = query.Rows, hostTag
		q.Above = &query.Above{Field: cpuFields()[0], Value: highCPU}
	}
	last := func(q *query.Query) { q.Shape, q.GroupBy = query.Last, hostTag }
	const h = time.Hour
	types := []queryType{
		{name: "single-groupby-1-1-1", help: "max of 1 metric of 1 host per minute, over 1 hour", window: h, hosts: 1, fields: 1, shape: maxPerMinute},
		{name: "single-groupby-1-1-12", help: "max of 1 metric of 1 host per minute, over 12 hours", window: 12 * h, hosts: 1, fields: 1, shape: maxPerMinute},
		{name: "single-groupby-1-8-1", help: "max of 1 metric over 8 hosts per minute, over 1 hour", window: h, hosts: 8, fields: 1, shape: maxPerMinute},
		{name: "single-groupby-5-1-1", help: "max of 5 metrics of 1 host per minute, over 1 hour", window: h, hosts: 1, fields: 5, shape: maxPerMinute},
		{name: "single-groupby-5-1-12", help: "max of 5 metrics of 1 host per minute, over 12 hours", window: 12 * h, hosts: 1, fields: 5, shape: maxPerMinute},
		{name: "single-groupby-5-8-1", help: "max of 5 metrics over 8 hosts per minute, over 1 hour", window: h, hosts: 8, fields: 5, shape: maxPerMinute},
		{name: "cpu-max-all-1", help: "max of all metrics of 1 host per hour, over 8 hours", window: 8 * h, hosts: 1, shape: maxPerHour},
		{name: "cpu-max-all-8", help: "max of all metrics over 8 hosts per hour, over 8 hours", window: 8 * h, hosts: 8, shape: maxPerHour},
		{name: "cpu-max-all-32-24", help: "max of all metrics over 32 hosts per hour, over 24 hours", window: 24 * h, hosts: 32, shape: maxPerHour},
		{name: "double-groupby-1", help: "mean of 1 metric per host and hour, over 12 hours", window: 12 * h, fields: 1, shape: avgPerHostAndHour},
		{name: "double-groupby-5", help: "mean of 5 metrics per host and hour, over 12 hours", window: 12 * h, fields: 5, shape: avgPerHostAndHour},
		{name: "double-groupby-all", help: "mean of all metrics per host and hour, over 12 hours", window: 12 * h, shape: avgPerHostAndHour},
		{name: "groupby-orderby-limit", help: "max of 1 metric over all hosts in each of the newest 5 minutes before a time", window: h, fields: 1, shape: newestMinutes},
		{name: "high-cpu-all", help: "rows of all hosts with usage_user above 90, over 12 hours", window: 12 * h, shape: aboveThreshold},
		{name: "high-cpu-1", help: "rows of 1 host with usage_user above 90, over 12 hours", window: 12 * h, hosts: 1, hostsFirst: true, shape: aboveThreshold},
		{name: "lastpoint", help: "newest row of every host", shape: last},
	}
	for i := range types {
		t := &types[i]
		t.table, t.tag, t.prefix = cpuTable, hostTag, hostPrefix
		fields := cpuFields()
		if t.fields > 0 {
			fields = fields[:t.fields]
		}
		shape := t.shape
		t.shape = func(q *query.Query) {
			q.Fields = fields
			shape(q)
		}
	}
	return types
}
