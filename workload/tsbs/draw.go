package tsbs

import (
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// queryType is a query type and the random draws of its queries.
type queryType struct {
	name, help string
	core       bool // a type that stands for those of its kind
	table      string
	tag        string // that identifies hosts or trucks
	prefix     string // of its values
	window     time.Duration
	hosts      int  // number of hosts or trucks drawn
	fleet      bool // a fleet of trucks
	hostsFirst bool // TSBS draws the hosts before the window for TimescaleDB
	redraws    bool // TSBS draws the hosts twice and uses the second
	noStart    bool // the window that is drawn ends the query's, which has no start
	above      *query.ValueFilter
	present    []string
	shape      query.Shape
}

// querySpan is added by TSBS users to the dataset's end for the queries, so that a dataset of one
// day supports windows of one day.
const querySpan = time.Second

// queryEnd is where the last window may end. An end that lies querySpan behind
// the last epoch is one that a TSBS user has lengthened already: it makes the
// same rows as the end without, and the same queries too.
func queryEnd(s workload.Spec) time.Time {
	if s.End.Sub(s.Start)%s.Interval == querySpan {
		return s.End
	}
	return s.End.Add(querySpan)
}

// draw draws the first n queries as TSBS draws them for TimescaleDB, each type
// from a stream of its own, with windows cut to microseconds.
func (t *queryType) draw(s workload.Spec, n int) (iter.Seq[query.Query], error) {
	start, end := s.Start.UnixNano(), queryEnd(s).UnixNano()
	room := end - int64(t.window) - start
	if t.window > 0 && room <= 0 {
		return nil, &workload.SpecError{Setting: "timestamp-end", Problem: fmt.Sprintf(
			"%s has windows of %s but the dataset spans %s; lengthen it, or leave the type out",
			t.name, t.window, s.End.Sub(s.Start))}
	}
	if t.hosts > int(s.Scale) {
		return nil, &workload.SpecError{Setting: "scale", Problem: fmt.Sprintf(
			"%s needs %d different hosts but there are %d; raise --scale, or leave the type out",
			t.name, t.hosts, s.Scale)}
	}
	return func(yield func(query.Query) bool) {
		r := newRandom(s.DrawingSeed())
		var q query.Query // one variable for all queries, since it escapes to the heap
		for i := range n {
			q = query.Query{Type: t.name, ID: i, Table: t.table, Filter: t.above, Present: t.present, Shape: t.shape}
			if t.hostsFirst {
				t.drawHosts(&q, r, s)
			}
			if t.window > 0 {
				from := time.Unix(0, start+r.int63n(room)).UTC().Truncate(time.Microsecond)
				q.Start, q.End = from, from.Add(t.window)
			}
			if !t.hostsFirst {
				t.drawHosts(&q, r, s)
			}
			if t.redraws {
				t.drawHosts(&q, r, s)
			}
			if t.fleet {
				all := fleets()
				q.In = &query.TagIn{Key: fleetTag, Values: []string{all[r.intn(len(all))]}}
			}
			if t.noStart {
				q.Start = time.Time{}
			}
			if !yield(q) {
				return
			}
		}
	}, nil
}

// drawHosts draws the hosts or trucks that a query is about, if it draws any.
func (t *queryType) drawHosts(q *query.Query, r *random, s workload.Spec) {
	if t.hosts > 0 {
		q.In = &query.TagIn{Key: t.tag, Values: t.distinct(r, int(s.Scale))}
	}
}

// distinct draws until enough different hosts or trucks have been seen, and
// returns them in the order of their first drawing.
func (t *queryType) distinct(r *random, scale int) []string {
	seen := make(map[int]bool, t.hosts)
	names := make([]string, 0, t.hosts)
	for len(names) < t.hosts {
		if h := r.intn(scale); !seen[h] {
			seen[h] = true
			names = append(names, t.prefix+strconv.Itoa(h))
		}
	}
	return names
}
