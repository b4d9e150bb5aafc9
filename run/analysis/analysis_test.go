package analysis_test

import (
	"bytes"
	"context"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/analysis"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// stub answers after a delay that depends on the query; every 17th never.
type stub struct{ driver.Required }

func (stub) NewQuerier(context.Context, int) (driver.Querier, error) { return querier{}, nil }
func (stub) NewWriter(context.Context, int) (driver.Writer, error)   { return new(writer), nil }
func (stub) Settle(context.Context) error                            { return nil }

type querier struct{}

func (querier) Close() error { return nil }
func (querier) Do(ctx context.Context, r driver.Request, _ query.Sink) (driver.Cost, error) {
	n, err := strconv.Atoi(r.Text)
	if n%17 == 16 {
		<-ctx.Done()
		return driver.Cost{}, ctx.Err()
	}
	time.Sleep(time.Duration(100+n) * time.Microsecond)
	return driver.Cost{Rows: int64(n), Bytes: int64(8 * n)}, err
}

// writer holds back the rows of its last batch.
type writer struct{ held int64 }

func (w *writer) Close() error { return nil }
func (w *writer) Write(_ context.Context, b *series.Batch) (driver.Receipt, error) {
	rows := w.held
	w.held = int64(b.Rows())
	return receipt(rows), nil
}
func (w *writer) Flush(context.Context) (driver.Receipt, error) { return receipt(w.held), nil }

func receipt(rows int64) driver.Receipt {
	sent := time.Now()
	time.Sleep(time.Millisecond)
	return driver.Receipt{Sent: sent, Acked: time.Now(), Rows: rows, WireBytes: 10 * rows}
}

func queries(n int) engine.List {
	q := make(engine.List, n)
	for i := range q {
		q[i] = engine.Rendered{ID: i, Request: driver.Request{Text: strconv.Itoa(i)}, Rows: int64(i), Values: 3}
	}
	return q
}

// recordCell returns the figures of the only cell in the log of the operations of do.
func recordCell(t *testing.T, c oplog.Cell, do func(*oplog.Section)) analysis.Figures {
	t.Helper()
	return analyzeLog(t, c, 10*time.Millisecond, do)
}

func analyzeLog(t *testing.T, c oplog.Cell, period time.Duration, do func(*oplog.Section)) analysis.Figures {
	t.Helper()
	var out bytes.Buffer
	w, err := oplog.NewWriter(&out, oplog.Header{})
	if err != nil {
		t.Fatal(err)
	}
	do(w.Section(c))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := oplog.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.Log(r, period)
	if err != nil || a.Truncated != "" || a.Lost != 0 || len(a.Cells) != 1 {
		t.Fatalf("error %v, truncated %q, %d lost, %d cells", err, a.Truncated, a.Lost, len(a.Cells))
	}
	return a.Cells[0]
}

// compareQueries requires equal figures, apart from figures that the engine derives from its settings.
func compareQueries(t *testing.T, got, want *result.Queries) {
	t.Helper()
	if want.Executed == 0 || want.BurnIn == 0 || want.AtLeast == 0 || want.Rows == 0 || want.Values != 3*want.Rows || want.Withheld != "" {
		t.Errorf("figures %+v", want)
	}
	known := *got
	known.Stopped, known.Timeout, known.TimeBox, known.Distinct, known.Sample.Different = want.Stopped, want.Timeout, want.TimeBox, want.Distinct, want.Sample.Different
	known.Type = want.Type
	if open := want.Open; open != nil {
		known.Open.Queue, known.Open.Waiting, known.Open.Saturated = open.Queue, open.Waiting, open.Saturated
	}
	if !reflect.DeepEqual(&known, want) {
		t.Errorf("the log says\n%+v\nthe engine\n%+v", &known, want)
	}
}

func TestClosedLoop(t *testing.T) {
	cfg := engine.QueryConfig{Workers: 3, BurnIn: 10, Timeout: 5 * time.Millisecond}
	var want *result.Queries
	got := recordCell(t, oplog.Cell{Kind: oplog.Query, Target: "a", Type: "t", Workers: 3, Queries: 200}, func(s *oplog.Section) {
		var err error
		cfg.Log = s
		if want, err = engine.Query(t.Context(), cfg, driver.DB{Required: stub{}}, queries(200), func(int) {}); err != nil || want.Withheld != "" {
			t.Fatal(err, want.Withheld)
		}
	})
	compareQueries(t, got.Queries, want)
	if got.Queries.Distinct != 200 || want.Distinct != 200 {
		t.Errorf("%d and %d different queries", got.Queries.Distinct, want.Distinct)
	}
}

// A single worker that waits for the time limit makes the schedule drop arrivals.
func TestOpenLoop(t *testing.T) {
	cfg := engine.OpenConfig{
		QueryConfig: engine.QueryConfig{Workers: 1, BurnIn: 20, Timeout: 5 * time.Millisecond},
		Schedule:    pace.Constant(500), Count: 300, Queue: 1,
	}
	var want *result.Queries
	cell := oplog.Cell{Kind: oplog.Query, Target: "a", Type: "t", Schedule: cfg.Schedule.String(), Workers: 1, Queries: 200}
	got := recordCell(t, cell, func(s *oplog.Section) {
		var err error
		cfg.Log = s
		if want, err = engine.QueryOpen(t.Context(), cfg, driver.DB{Required: stub{}}, queries(200), func(int) {}); err != nil || want.Withheld != "" {
			t.Fatal(err, want.Withheld)
		}
	})
	compareQueries(t, got.Queries, want)
	if want.Open.Dropped == 0 || want.Open.Arrivals != 280 {
		t.Errorf("open loop %+v", want.Open)
	}
}

func TestLoad(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{
		Name: "cpu-only", Seed: 1, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	var want *result.Load
	got := recordCell(t, oplog.Cell{Kind: oplog.Load, Target: "a", Workers: 3}, func(s *oplog.Section) {
		want, err = engine.Load(t.Context(), engine.LoadConfig{Workers: 3, BatchSize: 999, Period: 10 * time.Millisecond, Log: s}, d, driver.DB{Required: stub{}}, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
	}).Load
	got.BatchSize, got.Settled = want.BatchSize, want.Settled
	if !reflect.DeepEqual(got, want) || got.Rows != 36_000 || got.Acked < got.Sent+0.001 || got.Sent == 0 {
		t.Errorf("the log says\n%+v\nthe engine\n%+v", got, want)
	}
	sum, last := int64(0), 0.0
	for _, p := range got.Rates {
		sum += p.Rows
		if p.At <= last {
			t.Errorf("rates %+v are out of order", got.Rates)
		}
		last = p.At
	}
	if sum != 36_000 || len(got.Rates) < 2 {
		t.Errorf("rates %+v add up to %d rows", got.Rates, sum)
	}
}

// Recorded answers do not change the time of queries: the log gives the same figures.
func TestCaptured(t *testing.T) {
	for _, schedule := range []string{"", "2000/s"} {
		cfg := engine.QueryConfig{
			Workers: 2, BurnIn: 10, Timeout: 5 * time.Millisecond, Least: 1, First: 400,
			Capture: &engine.Capture{Sample: engine.NewSample("seed", "t", 10)},
		}
		var want *result.Queries
		cell := oplog.Cell{Kind: oplog.Query, Target: "a", Type: "t", Schedule: schedule, Workers: 2, Queries: 200, First: 400}
		got := recordCell(t, cell, func(s *oplog.Section) {
			var err error
			cfg.Log = s
			if schedule == "" {
				want, err = engine.Query(t.Context(), cfg, driver.DB{Required: stub{}}, queries(200), func(int) {})
			} else {
				open := engine.OpenConfig{QueryConfig: cfg, Schedule: pace.Constant(2000), Count: 300, Queue: 300}
				want, err = engine.QueryOpen(t.Context(), open, driver.DB{Required: stub{}}, queries(200), func(int) {})
			}
			if err != nil || want.Withheld != "" {
				t.Fatal(err, want.Withheld)
			}
		}).Queries
		if want.Sample.Captured != 10 || len(cfg.Capture.Answers()) != 10 {
			t.Errorf("%d captured, %d answers", want.Sample.Captured, len(cfg.Capture.Answers()))
		}
		want.Sample.Captured = 0 // not in the operations
		if got.First != 400 {
			t.Errorf("the first query is %d", got.First)
		}
		compareQueries(t, got, want)
	}
}
