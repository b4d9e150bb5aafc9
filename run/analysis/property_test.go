package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/result"
)

// someCells cover all ways of counting operations.
func someCells() []oplog.Cell {
	return []oplog.Cell{
		{Kind: oplog.Load, Workers: 4},
		{Kind: oplog.Load, Workers: 4, Part: oplog.Mixed, Schedule: "100/s"},
		{Kind: oplog.Load, Part: oplog.Rest},
		{Kind: oplog.Query, Type: "closed", Workers: 6, Queries: 300, First: 7},
		{Kind: oplog.Query, Type: "open", Workers: 4, Queries: 300, Schedule: "100/s"},
		{Kind: oplog.Query, Type: "of no known number"},
		{Kind: oplog.Query, Type: "beside writes", Part: oplog.Mixed, Workers: 4, Schedule: "100/s"},
		{Kind: oplog.Query, Type: "beside writes", Part: oplog.Mixed, Workers: 4},
	}
}

// operation returns any operation that an engine may emit, and many that none does.
func operation(r *rand.Rand, place int64, at time.Duration) oplog.Op {
	op := oplog.Op{
		Outcome: oplog.Outcome(r.IntN(int(oplog.Started))), BurnIn: r.IntN(4) == 0, Sequence: place, Query: place % 100,
		Start: at, Intended: at - time.Duration(r.IntN(1000)), Lag: time.Duration(r.IntN(1000)),
		Duration: time.Duration(r.Int64N(1 << (1 + r.IntN(36)))), Rows: r.Int64N(1000), Bytes: r.Int64N(1 << 40), Values: r.Int64N(10_000),
	}
	if r.IntN(3) > 0 {
		op.Sent = op.Duration / 2
	}
	return op
}

// Counting operations as they happen, with a tally per worker, and counting them later from the log
// gives identical results.
func TestLiveEqualsLogged(t *testing.T) {
	for seed := range uint64(8) {
		for _, c := range someCells() {
			t.Run(fmt.Sprint(c, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 11))
				period := []time.Duration{0, 10 * time.Millisecond, time.Second, time.Minute}[seed%4]
				live := tally.New(c, period)
				origin := time.Now().Add(time.Duration(r.Int64N(int64(time.Hour)))) // of the phase, in its log
				got := analyzeLog(t, c, period, func(s *oplog.Section) {
					const workers = 4
					var recorders [workers]*tally.Recorder
					var at [workers]time.Duration
					for i := range recorders {
						recorders[i] = live.Recorder(s, i, origin)
						at[i] = time.Duration(r.IntN(1e6))
					}
					for place := range int64(2000) {
						worker := r.IntN(workers)
						op := operation(r, place%(400), at[worker])
						if op.Sequence%workers != int64(worker) { // no two workers have the same query
							op.Sequence = op.Sequence/workers*workers + int64(worker)
						}
						recorders[worker].Add(&op)
						at[worker] += op.Duration + time.Duration(r.IntN(1e6))
					}
					for _, i := range r.Perm(workers) {
						recorders[i].Close(live)
					}
				})
				if c.Kind == oplog.Load {
					want, err := result.LoadOf(live)
					if err != nil || !reflect.DeepEqual(got.Load, &want) || want.Rows == 0 || want.Batches.Count == 0 || want.Acked == 0 || len(want.Rates) == 0 {
						t.Errorf("error %v, logged\n%+v\nwhen it happened\n%+v", err, got.Load, want)
					}
					return
				}
				want, err := result.QueriesOf(live)
				want.Distinct = 100 // set by the engine itself
				if err != nil || !reflect.DeepEqual(got.Queries, &want) || want.Executed == 0 || want.AtLeast == 0 || want.Service.Count == 0 || want.Wall == 0 {
					t.Errorf("error %v, logged\n%+v\nwhen it happened\n%+v", err, got.Queries, want)
				}
			})
		}
	}
}
