package analysis_test

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"slices"
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

// stub answers after a while that depends on the question; every 17th never.
type stub struct{ driver.DB }

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

// writer holds the rows of its last batch back.
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

func questions(n int) engine.List {
	q := make(engine.List, n)
	for i := range q {
		q[i] = engine.Question{ID: i, Request: driver.Request{Text: strconv.Itoa(i)}, Rows: int64(i), Values: 3}
	}
	return q
}

// recorded returns the only cell of the log of what do does.
func recorded(t *testing.T, c oplog.Cell, do func(*oplog.Section)) analysis.Figures {
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
	a, err := analysis.Log(r, 10*time.Millisecond)
	if err != nil || a.Truncated != "" || a.Lost != 0 || len(a.Cells) != 1 {
		t.Fatalf("error %v, truncated %q, %d lost, %d cells", err, a.Truncated, a.Lost, len(a.Cells))
	}
	return a.Cells[0]
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// sameLatency wants equal histograms. Means differ by rounding: workers are
// merged in another order.
func sameLatency(t *testing.T, what string, got, want result.Latency) {
	t.Helper()
	if !near(got.Mean, want.Mean, 1e-12) || !near(got.StdDev, want.StdDev, 1e-12) {
		t.Errorf("%s: mean %v, standard deviation %v; want %v, %v", what, got.Mean, got.StdDev, want.Mean, want.StdDev)
	}
	got.Mean, got.StdDev = want.Mean, want.StdDev
	if got != want {
		t.Errorf("%s: %+v\nwant %+v", what, got.Summary, want.Summary)
	}
}

// sameQueries wants the same figures. When the first query began is known to
// what the start of workers takes, so walls are near each other only.
func sameQueries(t *testing.T, got, want *result.Queries) {
	t.Helper()
	if got.Asked != want.Asked || got.BurnIn != want.BurnIn || got.AtLeast != want.AtLeast || got.Distinct != want.Distinct ||
		got.Workers != want.Workers || got.Rows != want.Rows || got.Bytes != want.Bytes || want.AtLeast == 0 || want.BurnIn == 0 {
		t.Errorf("figures %+v\nwant %+v", got, want)
	}
	if !reflect.DeepEqual(got.Each, want.Each) {
		t.Errorf("times of each question: %v\nwant %v", got.Each, want.Each)
	}
	if !near(got.Wall, want.Wall, 0.01) || !near(got.PerSecond, float64(got.Asked)/got.Wall, 1e-9) {
		t.Errorf("wall %v s, %v/s, want %v s", got.Wall, got.PerSecond, want.Wall)
	}
	sameLatency(t, "service time", got.Service, want.Service)
	sameAccumulated(t, got.Accumulated, want.Accumulated)
	if got.Values != want.Values || want.Values != 3*want.Rows || want.Rows == 0 {
		t.Errorf("%d values, want %d of %d rows", got.Values, want.Values, want.Rows)
	}
}

// sameAccumulated wants the times of the workers that did something.
func sameAccumulated(t *testing.T, got, want []float64) {
	t.Helper()
	want = slices.DeleteFunc(slices.Clone(want), func(seconds float64) bool { return seconds == 0 })
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return near(a, b, 1e-9) }) || len(want) == 0 {
		t.Errorf("the workers' times are %v, want %v", got, want)
	}
}

func TestClosedLoop(t *testing.T) {
	cfg := engine.QueryConfig{Workers: 3, BurnIn: 10, Timeout: 5 * time.Millisecond}
	var want *result.Queries
	got := recorded(t, oplog.Cell{Kind: oplog.Query, Target: "a", Type: "t"}, func(s *oplog.Section) {
		var err error
		cfg.Log = s
		if want, err = engine.Query(t.Context(), cfg, stub{}, questions(200), func(int) {}); err != nil || want.Withheld != "" {
			t.Fatal(err, want.Withheld)
		}
	})
	sameQueries(t, got.Queries, want)
}

// One worker that waits for the time limit makes the schedule drop arrivals.
func TestOpenLoop(t *testing.T) {
	cfg := engine.OpenConfig{
		QueryConfig: engine.QueryConfig{Workers: 1, BurnIn: 20, Timeout: 5 * time.Millisecond},
		Schedule:    pace.Constant(2000), Count: 300, Queue: 1,
	}
	var want *result.Queries
	cell := oplog.Cell{Kind: oplog.Query, Target: "a", Type: "t", Schedule: cfg.Schedule.String(), Workers: 1, Questions: 200}
	got := recorded(t, cell, func(s *oplog.Section) {
		var err error
		cfg.Log = s
		if want, err = engine.QueryOpen(t.Context(), cfg, stub{}, questions(200), func(int) {}); err != nil || want.Withheld != "" {
			t.Fatal(err, want.Withheld)
		}
	})
	// The engine counts as burn-in what was asked, and so does the log.
	sameQueries(t, got.Queries, want)
	open, wanted := got.Queries.Open, want.Open
	if open.Arrivals != wanted.Arrivals || open.Dropped != wanted.Dropped || wanted.Dropped == 0 ||
		open.Schedule != wanted.Schedule || !near(open.Offered, wanted.Offered, 1e-9) {
		t.Errorf("open loop %+v\nwant %+v", open, wanted)
	}
	sameLatency(t, "response time", open.Response, wanted.Response)
	sameLatency(t, "lag", open.Lag, wanted.Lag)
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
	got := recorded(t, oplog.Cell{Kind: oplog.Load, Target: "a"}, func(s *oplog.Section) {
		want, err = engine.Load(t.Context(), engine.LoadConfig{Workers: 3, BatchSize: 999, Log: s}, d, stub{}, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
	}).Load
	if got.Rows != 36_000 || got.Rows != want.Rows || got.Metrics != want.Metrics || got.WireBytes != want.WireBytes || got.Workers != 3 {
		t.Errorf("figures %+v\nwant %+v", got, want)
	}
	// The engine's clock starts a little before the first batch.
	if !near(got.Sent, want.Sent, 0.02) || !near(got.Acked, want.Acked, 0.02) || got.Acked < got.Sent+0.001 {
		t.Errorf("sent %v, acknowledged %v; want %v, %v", got.Sent, got.Acked, want.Sent, want.Acked)
	}
	sameLatency(t, "batches", got.Batches, want.Batches)
	sameAccumulated(t, got.Accumulated, want.Accumulated)
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

// Queries whose answers are taken to be compared have no time: the log says so,
// and gives the same figures without them.
func TestCaptured(t *testing.T) {
	for _, schedule := range []string{"", "2000/s"} {
		cfg := engine.QueryConfig{
			Workers: 2, BurnIn: 10, Timeout: 5 * time.Millisecond, Least: 1, First: 400,
			Capture: &engine.Capture{Sample: engine.NewSample("seed", "t", 10, engine.OneOf, engine.Endless), Repeats: 1},
		}
		var want *result.Queries
		cell := oplog.Cell{Kind: oplog.Query, Target: "a", Type: "t", Schedule: schedule, Workers: 2, Questions: 200, First: 400}
		got := recorded(t, cell, func(s *oplog.Section) {
			var err error
			cfg.Log = s
			if schedule == "" {
				want, err = engine.Query(t.Context(), cfg, stub{}, questions(200), func(int) {})
			} else {
				open := engine.OpenConfig{QueryConfig: cfg, Schedule: pace.Constant(2000), Count: 300, Queue: 300}
				want, err = engine.QueryOpen(t.Context(), open, stub{}, questions(200), func(int) {})
			}
			if err != nil || want.Withheld != "" {
				t.Fatal(err, want.Withheld)
			}
		}).Queries
		if want.Sample.Captured < 10 || got.Sample.Captured != want.Sample.Captured || int64(len(cfg.Capture.Answers())) != want.Sample.Captured {
			t.Errorf("%d captured in the log, %d by the engine, %d answers", got.Sample.Captured, want.Sample.Captured, len(cfg.Capture.Answers()))
		}
		for _, a := range cfg.Capture.Answers() {
			if i := a.Place - 400; schedule == "" && (i < 10 || i < len(want.Each) && want.Each[i] != 0) {
				t.Errorf("the answer at place %d was taken, and has the time %v", a.Place, want.Each[i])
			}
		}
		if got.Asked != want.Asked || got.First != 400 || want.First != 400 || !reflect.DeepEqual(got.Each, want.Each) {
			t.Errorf("asked %d from %d: %v\nwant %d from %d: %v", got.Asked, got.First, got.Each, want.Asked, want.First, want.Each)
		}
		if !near(got.Wall, want.Wall, 0.01) || !near(got.PerSecond/want.PerSecond, want.Wall/got.Wall, 1e-6) {
			t.Errorf("%v/s in %v s, want %v/s in %v s", got.PerSecond, got.Wall, want.PerSecond, want.Wall)
		}
		sameLatency(t, "service time", got.Service, want.Service)
	}
}
