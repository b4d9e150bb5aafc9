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

	mu            sync.Mutex // guards what follows
	out           result.MixedType
	tally         *tally.Tally
	answered      int
	full, counted reservoir
}

// newMixedType returns a type that is run by a schedule, empty: whenever a querier
// is free.
func newMixedType(q MixedQueries, schedule string, queriers, keep, count int, seed string) *mixedType {
	t := &mixedType{
		queries: q.Queries, log: q.Log, out: result.MixedType{Type: q.Type, Wanted: keep},
		tally: tally.New(oplog.Cell{Kind: oplog.Query, Part: oplog.Mixed, Type: q.Type, Schedule: schedule, Workers: queriers}, 0),
		full:  reservoir{Sample: NewSample(seed, q.Type, keep)}, counted: reservoir{Sample: NewSample(seed, q.Type, count)},
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

// record adds an operation of the type to its figures, and the answer to its samples:
// an answer that is not kept in full is counted.
func (t *mixedType) record(op *oplog.Op, a *Answered) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tally.Add(op)
	if op.Outcome != oplog.OK {
		return
	}
	if rejected := t.full.offer(a); rejected != nil {
		rejected.Answer, rejected.Digest = nil, nil
		t.counted.offer(rejected)
	}
}
