package tsbs

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// The table and tag that the devops questions are about, and the threshold of
// the high-cpu types.
const (
	cpuTable   = "cpu"
	hostTag    = "hostname"
	highCPU    = 90
	lastBucket = 5 // groupby-orderby-limit returns so many
)

// devopsType is a query type of the devops and cpu-only use cases.
type devopsType struct {
	name, help string
	window     time.Duration // drawn at random; 0: the type has none
	hosts      int           // drawn at random; 0: all
	fields     int           // the first so many; 0: all
	hostsFirst bool          // TSBS draws the hosts before the window for TimescaleDB
	shape      func(*query.Query)
}

// devopsTypes lists the types in TSBS's order. The figures are those of its
// code; its README differs for some.
func devopsTypes() []devopsType {
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
	return []devopsType{
		{"single-groupby-1-1-1", "max of 1 metric of 1 host per minute, over 1 hour", h, 1, 1, false, maxPerMinute},
		{"single-groupby-1-1-12", "max of 1 metric of 1 host per minute, over 12 hours", 12 * h, 1, 1, false, maxPerMinute},
		{"single-groupby-1-8-1", "max of 1 metric over 8 hosts per minute, over 1 hour", h, 8, 1, false, maxPerMinute},
		{"single-groupby-5-1-1", "max of 5 metrics of 1 host per minute, over 1 hour", h, 1, 5, false, maxPerMinute},
		{"single-groupby-5-1-12", "max of 5 metrics of 1 host per minute, over 12 hours", 12 * h, 1, 5, false, maxPerMinute},
		{"single-groupby-5-8-1", "max of 5 metrics over 8 hosts per minute, over 1 hour", h, 8, 5, false, maxPerMinute},
		{"cpu-max-all-1", "max of all metrics of 1 host per hour, over 8 hours", 8 * h, 1, 0, false, maxPerHour},
		{"cpu-max-all-8", "max of all metrics over 8 hosts per hour, over 8 hours", 8 * h, 8, 0, false, maxPerHour},
		{"cpu-max-all-32-24", "max of all metrics over 32 hosts per hour, over 24 hours", 24 * h, 32, 0, false, maxPerHour},
		{"double-groupby-1", "mean of 1 metric per host and hour, over 12 hours", 12 * h, 0, 1, false, avgPerHostAndHour},
		{"double-groupby-5", "mean of 5 metrics per host and hour, over 12 hours", 12 * h, 0, 5, false, avgPerHostAndHour},
		{"double-groupby-all", "mean of all metrics per host and hour, over 12 hours", 12 * h, 0, 0, false, avgPerHostAndHour},
		{"groupby-orderby-limit", "max of 1 metric over all hosts in each of the newest 5 minutes before a time", h, 0, 1, false, newestMinutes},
		{"high-cpu-all", "rows of all hosts with usage_user above 90, over 12 hours", 12 * h, 0, 0, false, aboveThreshold},
		{"high-cpu-1", "rows of 1 host with usage_user above 90, over 12 hours", 12 * h, 1, 0, true, aboveThreshold},
		{"lastpoint", "newest row of every host", 0, 0, 0, false, last},
	}
}

// querySpan is what TSBS users add to the dataset's end for the queries, so
// that a dataset of one day can be asked for windows of one day.
const querySpan = time.Second

// queryEnd is where the last window may end. An end that lies querySpan behind
// the last epoch is one that a TSBS user has lengthened already: it makes the
// same rows as the end without, and the same questions too.
func queryEnd(s workload.Spec) time.Time {
	if s.End.Sub(s.Start)%s.Interval == querySpan {
		return s.End
	}
	return s.End.Add(querySpan)
}

// draw draws the first n queries as TSBS draws them for TimescaleDB, each type
// from a stream of its own, with windows cut to microseconds.
func (t *devopsType) draw(s workload.Spec, n int) ([]query.Query, error) {
	start, end := s.Start.UnixNano(), queryEnd(s).UnixNano()
	room := end - int64(t.window) - start
	if t.window > 0 && room <= 0 {
		return nil, &workload.SpecError{Setting: "timestamp-end", Problem: fmt.Sprintf(
			"%s asks windows of %s but the dataset spans %s; lengthen it, or leave the type out",
			t.name, t.window, s.End.Sub(s.Start))}
	}
	if t.hosts > int(s.Scale) {
		return nil, &workload.SpecError{Setting: "scale", Problem: fmt.Sprintf(
			"%s asks for %d different hosts but there are %d; raise --scale, or leave the type out",
			t.name, t.hosts, s.Scale)}
	}
	fields := cpuFields()
	if t.fields > 0 {
		fields = fields[:t.fields]
	}
	r := newRandom(s.Seed)
	queries := make([]query.Query, n)
	for i := range queries {
		q := &queries[i]
		*q = query.Query{Type: t.name, ID: i, Table: cpuTable, Fields: fields}
		drawHosts := func() {
			if t.hosts > 0 {
				q.In = &query.TagIn{Key: hostTag, Values: distinctHosts(r, int(s.Scale), t.hosts)}
			}
		}
		if t.hostsFirst {
			drawHosts()
		}
		if t.window > 0 {
			from := time.Unix(0, start+r.int63n(room)).UTC().Truncate(time.Microsecond)
			q.Start, q.End = from, from.Add(t.window)
		}
		if !t.hostsFirst {
			drawHosts()
		}
		t.shape(q)
	}
	return queries, nil
}

// distinctHosts draws until n different hosts have been seen, and returns them
// in the order of their first drawing.
func distinctHosts(r *random, scale, n int) []string {
	seen := make(map[int]bool, n)
	names := make([]string, 0, n)
	for len(names) < n {
		if h := r.intn(scale); !seen[h] {
			seen[h] = true
			names = append(names, "host_"+strconv.Itoa(h))
		}
	}
	return names
}
