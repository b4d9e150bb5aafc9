package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// openTable shows the figures of an open loop other than service times. It returns nil if a
// target has no open loop.
func openTable(t *result.Target) *doc.Table {
	view := &doc.Table{Title: "Open loop: " + t.Label(), Columns: []doc.Column{
		{Head: "type"},
		{Head: "schedule", Help: "by which queries came, however slow answers were", Words: true, Rank: 3},
		{Head: "offered/s", Help: "queries that came a second, on average"},
		{Head: "done/s", Help: "queries answered a second"},
		{Head: "dropped", Help: "queries that found the queue full, and were never run"},
		{Head: "waiting", Help: "queries in the queue when the last one came", Rank: 4},
		{Head: "response p50", Help: "median time from when a query was due to the last byte of its answer: what a user sees"},
		{Head: "p99", Help: "99th percentile of the response time", Follows: true},
		{Head: "p99.9", Help: "99.9th percentile of the response time", Rank: 2, Follows: true},
		{Head: "service p50", Help: "median time from sending a query to the last byte of its answer"},
		{Head: "p99", Help: "99th percentile of the service time", Follows: true},
		{Head: "p99.9", Help: "99.9th percentile of the service time", Rank: 2, Follows: true},
		{Head: "lag p99", Help: "by how much tsmark itself released queries late: 99th percentile, part of the response time", Rank: 1},
		{Head: "kept up", Help: "whether the target kept to the schedule", Words: true},
	}}
	for i := range t.Queries {
		q := &t.Queries[i]
		o := q.Open
		if o == nil || !rank.HasFigures(q) {
			continue
		}
		kept := doc.Plain("yes")
		if o.Saturated != "" {
			kept = doc.Bad("saturated")
			view.Notes = append(view.Notes, doc.Bad(q.Type+": "+o.Saturated))
		}
		of := boundedLatency(q.AtLeast)
		dropped := doc.Plain(format.Count(o.Dropped))
		if o.Dropped > 0 {
			dropped.Tone = format.ToneBad
		}
		lag := boundedLatency(0)(&o.Lag, 0.99, o.Lag.P99) // tsmark's own: no limit cuts it off
		view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{
			doc.Plain(q.Type), doc.Plain(o.Schedule), doc.Plain(format.Digits(o.Offered)), doc.Plain(format.Digits(q.PerSecond)), dropped, doc.Plain(format.Count(o.Waiting)),
			of(&o.Response, 0.5, o.Response.Median), of(&o.Response, 0.99, o.Response.P99), of(&o.Response, 0.999, o.Response.P999),
			of(&q.Service, 0.5, q.Service.Median), of(&q.Service, 0.99, q.Service.P99), of(&q.Service, 0.999, q.Service.P999), lag, kept,
		}})
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}

// searchTable shows how the highest rate was found. It returns nil without a search.
func searchTable(t *result.Target) *doc.Table {
	view := &doc.Table{Title: "Highest rate: " + t.Label(), Columns: []doc.Column{
		{Head: "type"},
		{Head: "objective", Words: true},
		{Head: "kept/s", Help: "highest rate that kept the objective; of several repeats the median one"},
		{Head: "failed/s", Help: "lowest rate that did not; the truth lies between"},
		{Head: "repeats", Help: "highest rate of each repeat, in their order", Words: true, Rank: 2},
		{Head: "tries", Help: "rates that were tried, in their order; × did not keep the objective", Words: true, Rank: 1},
	}}
	for i := range t.Queries {
		q := &t.Queries[i]
		if q.Open == nil || q.Open.Search == nil || !rank.HasFigures(q) {
			continue
		}
		s := q.Open.Search
		rate := func(v float64, absent string) doc.Span {
			if v == 0 {
				return doc.Dim(absent)
			}
			return doc.Plain(format.Digits(v))
		}
		var tries, each []string
		for _, try := range s.Tries {
			mark := ""
			if try.Failed != "" {
				mark = "×"
			}
			tries = append(tries, format.Digits(try.Rate)+mark)
		}
		for j := range t.Repeats {
			if again := t.Repeats[j].Type(q.Type); again != nil && again.Open != nil && again.Open.Search != nil {
				each = append(each, format.Digits(again.Open.Search.Kept))
			}
		}
		view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{
			doc.Plain(q.Type), doc.Plain(s.Objective), rate(s.Kept, "none"), rate(s.Failed, "none did"),
			doc.Plain(strings.Join(each, " · ")), doc.Plain(strings.Join(tries, " · ")),
		}})
		if last := s.UndecidedTry(); last != nil {
			view.Notes = append(view.Notes, doc.Bad(fmt.Sprintf("%s: the search ended at %s/s: %s", q.Type, format.Digits(last.Rate), last.Failed)))
		}
		at := slices.IndexFunc(s.Tries, func(try result.RateTry) bool { return try.Rate == s.Failed && try.Failed != "" })
		if at >= 0 {
			view.Notes = append(view.Notes, doc.Dim(fmt.Sprintf("%s: at %s/s: %s", q.Type, format.Digits(s.Failed), s.Tries[at].Failed)))
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}
