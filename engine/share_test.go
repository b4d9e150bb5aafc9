package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// answering is a target that takes all rows, and answers as queries expects.
func answering() *stub {
	return &stub{
		write: func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) { return accept(b), nil },
		do:    func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 2}, nil },
	}
}

// runLogged runs queries with a log, and returns the operations by their sequence, with
// intended starts since the start.
func runLogged(t *testing.T, run func(*oplog.Section, engine.Start) *result.Queries) (*result.Queries, []oplog.Op) {
	t.Helper()
	var file bytes.Buffer
	var at time.Time
	begun := time.Now()
	log, err := oplog.NewWriter(&file, oplog.Header{Start: begun})
	if err != nil {
		t.Fatal(err)
	}
	q := run(log.Section(oplog.Cell{Kind: oplog.Query}), func(context.Context) (time.Time, error) {
		at = time.Now().Add(2 * time.Millisecond)
		return at, nil
	})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := oplog.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	var ops []oplog.Op
	for op, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if op.Start < at.Sub(begun) {
			t.Errorf("operation %d starts %v before the phase", op.Sequence, at.Sub(begun)-op.Start)
		}
		op.Intended -= at.Sub(begun)
		ops = append(ops, *op)
	}
	slices.SortFunc(ops, func(a, b oplog.Op) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return q, ops
}

// What several clients run together is what one runs: each query once, with the same
// burn-in, the same answers kept and the same arrivals.
func TestSharesOfQueries(t *testing.T) {
	source := queries(50)
	type seen struct {
		sequence, query int64
		burnIn          bool
		due             time.Duration
		outcome         oplog.Outcome
	}
	sample := func() *engine.Capture {
		return &engine.Capture{Sample: engine.NewSample("seed", "type", 10)}
	}
	for name, run := range map[string]func(engine.QueryConfig) (*result.Queries, error){
		"closed": func(cfg engine.QueryConfig) (*result.Queries, error) {
			return engine.Query(t.Context(), cfg, driver.DB{Required: answering()}, source, ignore)
		},
		"open, around": func(cfg engine.QueryConfig) (*result.Queries, error) {
			return engine.QueryOpen(t.Context(), engine.OpenConfig{QueryConfig: cfg, Schedule: pace.Poisson{Rate: 20_000, Seed: 3}, Count: 150, Queue: 200}, driver.DB{Required: answering()}, source, ignore)
		},
	} {
		var whole []seen
		var sampled []int64
		for count := 1; count <= 4; count++ {
			var all []seen
			together := sample()
			for i := range count {
				own := sample()
				_, ops := runLogged(t, func(log *oplog.Section, start engine.Start) *result.Queries {
					q, err := run(engine.QueryConfig{Workers: 2, BurnIn: 7, Log: log, Start: start, Share: workload.Share{Index: i, Count: count}, Capture: own})
					if err != nil || q.Withheld != "" {
						t.Fatal(err, q.Withheld)
					}
					return q
				})
				together.Take(own.Answers())
				for _, op := range ops {
					due := op.Intended
					if name == "closed" {
						due = 0
					}
					all = append(all, seen{op.Sequence, op.Query, op.BurnIn, due, op.Outcome})
				}
			}
			slices.SortFunc(all, func(a, b seen) int { return cmp.Compare(a.due, b.due) })
			if name == "closed" {
				slices.SortFunc(all, func(a, b seen) int { return cmp.Compare(a.sequence, b.sequence) })
			}
			var positions []int64
			for _, a := range together.Answers() {
				positions = append(positions, a.Position)
			}
			slices.Sort(positions)
			if count == 1 {
				whole, sampled = all, positions
				continue
			}
			if name == "closed" && !slices.Equal(positions, sampled) || len(positions) != 10 {
				t.Errorf("%s, %d clients: answers %v were kept, by one client %v", name, count, positions, sampled)
			}
			if len(all) != len(whole) {
				t.Fatalf("%s, %d clients: %d operations, one has %d", name, count, len(all), len(whole))
			}
			for i := range all {
				a, b := all[i], whole[i]
				if a.sequence >= 50 || b.sequence >= 50 { // of rows that are sent twice, which is another one
					a.sequence, a.query, a.outcome, b.sequence, b.query, b.outcome = 0, 0, 0, 0, 0, 0
				}
				if a != b {
					t.Errorf("%s, %d clients: operation %d is %+v, of one client %+v", name, count, i, a, b)
				}
			}
		}
	}
}

// Without a start nothing is run, and its error ends the phase.
func TestStart(t *testing.T) {
	called := errors.New("called off")
	start := func(context.Context) (time.Time, error) { return time.Time{}, called }
	s := answering()
	if _, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 1, Start: start}, driver.DB{Required: s}, queries(3), ignore); !errors.Is(err, called) {
		t.Errorf("queries: %v", err)
	}
	l, err := engine.Send(t.Context(), engine.LoadConfig{Workers: 2, BatchSize: 10, Start: start}, dataset(t, 1, time.Minute), driver.DB{Required: s}, ignore)
	if !errors.Is(err, called) || l == nil || l.Rows != 0 {
		t.Errorf("rows: %v, %+v", err, l)
	}
}

// A load by shares has the rows of the whole, and its clock starts when all are told to.
func TestSharesOfRows(t *testing.T) {
	d := dataset(t, 10, 10*time.Minute)
	want, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 100}, d, driver.DB{Required: answering()}, ignore)
	if err != nil {
		t.Fatal(err)
	}
	rows, values := int64(0), int64(0)
	for i := range 3 {
		share := workload.Share{Index: i, Count: 3}
		l, err := engine.Send(t.Context(), engine.LoadConfig{Workers: 2, BatchSize: 100}, share.Dataset(d), driver.DB{Required: answering()}, ignore)
		if err != nil || l.Settled != 0 {
			t.Fatal(err, l.Settled)
		}
		rows, values = rows+l.Rows, values+l.Metrics
	}
	if rows != want.Rows || values != want.Metrics {
		t.Errorf("%d rows and %d values, want %d and %d", rows, values, want.Rows, want.Metrics)
	}
}
