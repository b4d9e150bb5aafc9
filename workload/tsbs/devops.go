package tsbs

import (
	"time"

	"github.com/tsmark/tsmark/query"
)

// The table and tag that the devops queries are about, and the threshold of
// the high-cpu types.
const (
	cpuTable   = "cpu"
	hostTag    = "hostname"
	hostPrefix = "host_"
	highCPU    = 90
	lastBucket = 5 // number of buckets that groupby-orderby-limit returns
)

// devopsTypes lists the types in TSBS's order. The numbers are from its code; its README differs
// for some.
func devopsTypes() []queryType {
	cpu := cpuFields()
	maxPerMinute := func(fields int) query.Buckets {
		return query.Buckets{Aggregate: query.Max, Fields: cpu[:fields], Width: time.Minute, Order: query.Ascending}
	}
	maxPerHour := query.Buckets{Aggregate: query.Max, Fields: cpu, Width: time.Hour, Order: query.Ascending}
	meanPerHostAndHour := func(fields int) query.Buckets {
		return query.Buckets{Aggregate: query.Avg, Fields: cpu[:fields], Width: time.Hour, GroupBy: hostTag, Order: query.Ascending}
	}
	newestMinutes := query.Buckets{Aggregate: query.Max, Fields: cpu[:1], Width: time.Minute, Order: query.Descending, Limit: lastBucket}
	rows := query.Rows{Fields: cpu, Tag: hostTag}
	above := &query.ValueFilter{Field: cpu[0], Value: highCPU}
	const h = time.Hour
	types := []queryType{
		{name: "single-groupby-1-1-1", core: true, help: "max of 1 metric of 1 host per minute, over 1 hour", window: h, hosts: 1, shape: maxPerMinute(1)},
		{name: "single-groupby-1-1-12", core: true, help: "max of 1 metric of 1 host per minute, over 12 hours", window: 12 * h, hosts: 1, shape: maxPerMinute(1)},
		{name: "single-groupby-1-8-1", help: "max of 1 metric over 8 hosts per minute, over 1 hour", window: h, hosts: 8, shape: maxPerMinute(1)},
		{name: "single-groupby-5-1-1", help: "max of 5 metrics of 1 host per minute, over 1 hour", window: h, hosts: 1, shape: maxPerMinute(5)},
		{name: "single-groupby-5-1-12", help: "max of 5 metrics of 1 host per minute, over 12 hours", window: 12 * h, hosts: 1, shape: maxPerMinute(5)},
		{name: "single-groupby-5-8-1", core: true, help: "max of 5 metrics over 8 hosts per minute, over 1 hour", window: h, hosts: 8, shape: maxPerMinute(5)},
		{name: "cpu-max-all-1", help: "max of all metrics of 1 host per hour, over 8 hours", window: 8 * h, hosts: 1, shape: maxPerHour},
		{name: "cpu-max-all-8", core: true, help: "max of all metrics over 8 hosts per hour, over 8 hours", window: 8 * h, hosts: 8, shape: maxPerHour},
		{name: "cpu-max-all-32-24", help: "max of all metrics over 32 hosts per hour, over 24 hours", window: 24 * h, hosts: 32, shape: maxPerHour},
		{name: "double-groupby-1", core: true, help: "mean of 1 metric per host and hour, over 12 hours", window: 12 * h, shape: meanPerHostAndHour(1)},
		{name: "double-groupby-5", help: "mean of 5 metrics per host and hour, over 12 hours", window: 12 * h, shape: meanPerHostAndHour(5)},
		{name: "double-groupby-all", help: "mean of all metrics per host and hour, over 12 hours", window: 12 * h, shape: meanPerHostAndHour(len(cpu))},
		{name: "groupby-orderby-limit", core: true, help: "max of 1 metric over all hosts in each of the newest 5 minutes before a time", window: h, noStart: true, shape: newestMinutes},
		{name: "high-cpu-all", help: "rows of all hosts with usage_user above 90, over 12 hours", window: 12 * h, above: above, shape: rows},
		{name: "high-cpu-1", core: true, help: "rows of 1 host with usage_user above 90, over 12 hours", window: 12 * h, hosts: 1, hostsFirst: true, above: above, shape: rows},
		{name: "lastpoint", core: true, help: "newest row of every host", shape: query.Last{By: hostTag, Fields: cpu}},
	}
	for i := range types {
		t := &types[i]
		t.table, t.tag, t.prefix = cpuTable, hostTag, hostPrefix
	}
	return types
}
