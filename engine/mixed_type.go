package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// mixedType is what is asked of one query type, and what came of it.
type mixedType struct {
	queries []query.Query
	log     *oplog.Section
	next    atomic.Int64 // questions drawn
	ended   atomic.Bool  // withheld or not supported

	mu                sync.Mutex // guards what follows
	out               result.MixedType
	service, response *measure.Latency
	answered          int
	inFull, counting  Sample
	full, counted     []Answered
}

func newMixedType(q MixedQuestions, queriers, keep, count int, seed string) *mixedType {
	t := &mixedType{
		queries: q.Queries, log: q.Log, out: result.MixedType{Type: q.Type, Accumulated: make([]float64, queriers), Wanted: keep},
		service: measure.NewLatency(), response: measure.NewLatency(),
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

// record adds the n-th answer of the type, which a worker was given, to its
// figures and samples.
func (t *mixedType) record(worker, n int, a *Answered, cost driver.Cost, end, due time.Duration, kept, cutOff bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.Asked++
	t.out.Rows += cost.Rows
	t.out.Bytes += cost.Bytes
	t.out.Values += cost.Rows * int64(a.Query.Values())
	if !kept {
		t.service.Record(end - a.At)
		t.response.Record(end - due)
	}
	if !cutOff {
		t.out.Accumulated[worker] += (end - a.At).Seconds()
	}
	switch {
	case cutOff && kept:
		t.out.AtLeastKept++
		fallthrough
	case cutOff:
		t.out.AtLeast++
	case kept:
		t.full = append(t.full, *a)
	case t.counting.Has(int64(n)):
		t.counted = append(t.counted, *a)
	}
}
