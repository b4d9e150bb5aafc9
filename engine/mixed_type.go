package engine

import (
	"sync"
	"sync/atomic"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// mixedType is what is run of one query type, and what came of it.
type mixedType struct {
	queries []query.Query
	log     *oplog.Section
	next    atomic.Int64 // queries drawn
	ended   atomic.Bool  // withheld or not supported

	mu               sync.Mutex // guards what follows
	out              result.MixedType
	tally            *tally.Tally
	answered         int
	inFull, counting Sample
	full, counted    []Answered
}

// newMixedType returns a type that is run by a schedule, empty: whenever a querier
// is free.
func newMixedType(q MixedQueries, schedule string, queriers, keep, count int, seed string) *mixedType {
	t := &mixedType{
		queries: q.Queries, log: q.Log, out: result.MixedType{Type: q.Type, Wanted: keep},
		tally:  tally.New(oplog.Cell{Kind: oplog.Query, Part: oplog.Mixed, Type: q.Type, Schedule: schedule, Workers: queriers}, 0),
		inFull: NewSample(seed, q.Type, keep, OneOf, Endless), counting: NewSample(seed, q.Type+" counted", count, 1, Endless),
	}
	t.ended.Store(len(q.Queries) == 0)
	return t
}

// end ends the type, for the reason that its first end gives.
func (t *mixedType) end(set func(*result.MixedType)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended.Swap(true) {
		set(&t.out)
	}
}

// record adds an operation of the type to its figures, and the answer, which is the n-th of
// this client, to its samples.
func (t *mixedType) record(op *oplog.Op, a *Answered, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tally.Add(op)
	switch {
	case op.Outcome != oplog.OK:
	case op.BurnIn:
		t.full = append(t.full, *a)
	case t.counting.Has(int64(n)):
		t.counted = append(t.counted, *a)
	}
}
