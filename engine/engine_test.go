package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// stub is a target whose writers and queriers do what the test says.
type stub struct {
	driver.Required
	write   func(ctx context.Context, worker int, b *series.Batch) (driver.Receipt, error)
	do      func(ctx context.Context, text string) (driver.Cost, error)
	settle  time.Duration
	gone    error        // why the target does not describe itself; nil: it does
	writers atomic.Int64 // open
}

func (s *stub) NewWriter(_ context.Context, worker int) (driver.Writer, error) {
	s.writers.Add(1)
	return &stubWriter{s, worker, false}, nil
}

func (s *stub) NewQuerier(context.Context, int) (driver.Querier, error) { return stubQuerier{s}, nil }
func (s *stub) Settle(context.Context) error                            { time.Sleep(s.settle); return nil }
func (s *stub) Describe(context.Context) (driver.Description, error) {
	return driver.Description{}, s.gone
}

type stubWriter struct {
	*stub
	worker int
	closed bool
}

func (w *stubWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	return w.write(ctx, w.worker, b)
}
func (w *stubWriter) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }
func (w *stubWriter) Close() error {
	if !w.closed {
		w.closed = true
		w.writers.Add(-1)
	}
	return nil
}

type stubQuerier struct{ *stub }

func (q stubQuerier) Do(ctx context.Context, r driver.Request, _ query.Sink) (driver.Cost, error) {
	return q.do(ctx, r.Text)
}
func (stubQuerier) Close() error { return nil }

func ignore(int) {}

func dataset(t testing.TB, scale uint32, span time.Duration) workload.Dataset {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{
		Name: "cpu-only", Seed: 1, Scale: scale, Start: start, End: start.Add(span), Interval: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The three times, the batches and the rates match the load.
func TestLoad(t *testing.T) {
	const ackAfter = 2 * time.Millisecond
	s := &stub{settle: 30 * time.Millisecond}
	var rows atomic.Int64
	s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
		sent := time.Now()
		time.Sleep(ackAfter)
		rows.Add(int64(b.Rows()))
		return driver.Receipt{Sent: sent, Acked: time.Now(), Rows: int64(b.Rows()), WireBytes: 10}, nil
	}
	load, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 3, BatchSize: 999, Period: 10 * time.Millisecond}, dataset(t, 100, time.Hour), driver.DB{Required: s}, ignore)
	if err != nil {
		t.Fatal(err)
	}
	if load.Rows != 36_000 || rows.Load() != 36_000 || load.Metrics != 360_000 || load.Batches.Count != 37 || load.WireBytes != 370 {
		t.Errorf("%d rows, %d metrics, %d batches, %d bytes; want 36,000, 360,000, 37, 370", load.Rows, load.Metrics, load.Batches.Count, load.WireBytes)
	}
	if load.Acked < load.Sent+ackAfter.Seconds() || load.Settled < load.Acked+s.settle.Seconds() {
		t.Errorf("sent %v, acknowledged %v, settled %v are too close", load.Sent, load.Acked, load.Settled)
	}
	sum, longest := 0.0, 0.0
	for _, seconds := range load.Accumulated {
		sum, longest = sum+seconds, max(longest, seconds)
	}
	if len(load.Accumulated) != 3 || longest > load.Acked || math.Abs(sum-load.Batches.Mean*37) > 1e-6 {
		t.Errorf("the workers' batches took %v s, of %v s of 37 batches within %v s", load.Accumulated, load.Batches.Mean*37, load.Acked)
	}
	if load.Batches.Min < ackAfter.Seconds() {
		t.Errorf("a batch took %v s, less than its acknowledgement", load.Batches.Min)
	}
	rated := int64(0)
	for _, p := range load.Rates {
		rated += p.Rows
	}
	if rated != 36_000 {
		t.Errorf("the rates add up to %d rows", rated)
	}
	if n := s.writers.Load(); n != 0 {
		t.Errorf("%d writers were left open", n)
	}
}

// A failed batch ends all workers, the error names it, and accepted rows are counted.
func TestLoadFails(t *testing.T) {
	s := &stub{}
	var batches atomic.Int64
	s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
		if batches.Add(1) > 5 {
			return driver.Receipt{}, errors.New("disk full")
		}
		return driver.Receipt{Sent: time.Now(), Acked: time.Now(), Rows: int64(b.Rows())}, nil
	}
	load, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 2, BatchSize: 1000, Period: time.Second}, dataset(t, 100, time.Hour), driver.DB{Required: s}, ignore)
	if err == nil || !strings.Contains(err.Error(), "000, cpu from 2016-01-01T00:") || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("error %v does not name the batch and the cause", err)
	}
	if load.Rows != 5000 || s.writers.Load() != 0 {
		t.Errorf("%d rows, %d writers open; want 5000, 0", load.Rows, s.writers.Load())
	}
}

func queries(n int) engine.List {
	q := make(engine.List, n)
	for i := range q {
		q[i] = engine.Rendered{ID: i, Request: driver.Request{Text: fmt.Sprint(i)}, Rows: 2}
	}
	return q
}

// Each query is run once; burn-in is not recorded.
func TestQuery(t *testing.T) {
	var ran [50]atomic.Int64
	s := &stub{do: func(_ context.Context, text string) (driver.Cost, error) {
		var i int
		fmt.Sscan(text, &i)
		ran[i].Add(1)
		time.Sleep(time.Millisecond)
		return driver.Cost{Rows: 2, Bytes: 16}, nil
	}}
	q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 4, BurnIn: 10}, driver.DB{Required: s}, queries(50), ignore)
	if err != nil || q.Withheld != "" {
		t.Fatal(err, q.Withheld)
	}
	for i := range ran {
		if n := ran[i].Load(); n != 1 {
			t.Errorf("query %d was run %d times", i, n)
		}
	}
	if q.Executed != 40 || q.BurnIn != 10 || q.Service.Count != 40 || q.Rows != 80 || q.Bytes != 640 {
		t.Errorf("ran %d, burn-in %d, latencies %d, rows %d, bytes %d", q.Executed, q.BurnIn, q.Service.Count, q.Rows, q.Bytes)
	}
	longest := slices.Max(q.Accumulated)
	if len(q.Accumulated) != 4 || longest > q.Wall+0.001 || longest < 10*q.Service.Min || q.Values != 0 {
		t.Errorf("the workers' queries took %v s of %v s; %d values", q.Accumulated, q.Wall, q.Values)
	}
	if len(q.Each) != 50 || q.Each[9] != 0 || q.Each[10] < 0.001 || q.Each[49] < 0.001 {
		t.Errorf("times of each query: %v", q.Each)
	}
	if q.Service.Min < 0.001 || q.Wall < 0.01 || q.PerSecond < 39/q.Wall || q.PerSecond > 41/q.Wall {
		t.Errorf("min %v s, wall %v s, %v/s", q.Service.Min, q.Wall, q.PerSecond)
	}
}

// The time box ends the phase; started queries are finished.
func TestTimeBox(t *testing.T) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) {
		time.Sleep(20 * time.Millisecond)
		return driver.Cost{Rows: 2}, nil
	}}
	q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 1, TimeBox: 50 * time.Millisecond}, driver.DB{Required: s}, queries(1000), ignore)
	if err != nil || q.Executed < 1 || q.Executed > 3 || q.Wall < 0.02 {
		t.Errorf("ran %d in %v s, error %v; want 3 or fewer", q.Executed, q.Wall, err)
	}
}

// A query that is cut off counts as at least its limit.
func TestTimeout(t *testing.T) { inBothLoops(t, testTimeout) }

func testTimeout(t *testing.T, run queryFunc) {
	s := &stub{do: func(ctx context.Context, text string) (driver.Cost, error) {
		if text == "1" {
			<-ctx.Done()
			return driver.Cost{}, ctx.Err()
		}
		return driver.Cost{Rows: 2}, nil
	}}
	q, err := run(t.Context(), engine.QueryConfig{Workers: 1, Timeout: 30 * time.Millisecond}, driver.DB{Required: s}, queries(3), ignore)
	if err != nil || q.Withheld != "" || q.AtLeast != 1 || q.Executed != 3 || q.Service.Max < 0.03 || q.Each[1] > -0.03 || q.Each[2] <= 0 {
		t.Errorf("%d cut off of %d, max %v s, withheld %q, error %v", q.AtLeast, q.Executed, q.Service.Max, q.Withheld, err)
	}
	if len(q.Accumulated) != 1 || q.Accumulated[0] > 0.03 || q.Accumulated[0] <= 0 {
		t.Errorf("the worker's answers took %v s; the one cut off must not count", q.Accumulated)
	}
	q, err = run(t.Context(), engine.QueryConfig{Workers: 1, BurnIn: 2, Timeout: 30 * time.Millisecond}, driver.DB{Required: s}, queries(3), ignore)
	if err != nil || q.AtLeast != 0 || q.Executed != 1 {
		t.Errorf("cut off in the burn-in: %d cut off of %d, error %v", q.AtLeast, q.Executed, err)
	}
}

// One that is cut off with more rows than it should have is wrong, not slow.
func TestEndlessAnswer(t *testing.T) {
	inBothLoops(t, func(t *testing.T, run queryFunc) {
		s := &stub{do: func(ctx context.Context, _ string) (driver.Cost, error) {
			<-ctx.Done()
			return driver.Cost{Rows: 1000}, ctx.Err()
		}}
		q, err := run(t.Context(), engine.QueryConfig{Workers: 1, Timeout: 20 * time.Millisecond}, driver.DB{Required: s}, queries(3), ignore)
		if err != nil || !strings.Contains(q.Withheld, "1000 rows in the answer, 2 expected, when it was cut off") {
			t.Errorf("withheld %q, error %v", q.Withheld, err)
		}
	})
}

// Of answers that nobody knows rows are counted, however many come, and what takes too
// long is slow.
func TestAnyRows(t *testing.T) {
	inBothLoops(t, func(t *testing.T, run queryFunc) {
		s := &stub{do: func(ctx context.Context, text string) (driver.Cost, error) {
			if text == "2" {
				<-ctx.Done()
				return driver.Cost{Rows: 1000}, ctx.Err()
			}
			return driver.Cost{Rows: int64(len(text))}, nil
		}}
		unknown := queries(12)
		for i := range unknown {
			unknown[i].Rows = engine.AnyRows
		}
		q, err := run(t.Context(), engine.QueryConfig{Workers: 1, Timeout: 20 * time.Millisecond}, driver.DB{Required: s}, unknown, ignore)
		if err != nil || q.Withheld != "" || q.Executed != 12 || q.AtLeast != 1 || q.Rows < 13 || q.Sample.Uncounted != 11 {
			t.Errorf("%d of 12 run, %d cut off, %d rows, %d answers not counted; withheld %q, error %v", q.Executed, q.AtLeast, q.Rows, q.Sample.Uncounted, q.Withheld, err)
		}
	})
}

// Wrong counts withhold the type; errors and a broken connection fail it, and accuse nobody;
// a vanished server ends the run.
func TestQueryWithheld(t *testing.T) { inBothLoops(t, testQueryWithheld) }

func testQueryWithheld(t *testing.T, run queryFunc) {
	for name, test := range map[string]struct {
		cost        driver.Cost
		err         error
		gone        error
		withheld    string
		failed      *result.Failure
		unsupported string
		fatal       error
	}{
		"a row less":  {cost: driver.Cost{Rows: 1}, withheld: "query 7: 1 rows in the answer, 2 expected"},
		"an error":    {err: errors.New("syntax"), failed: &result.Failure{Cause: result.ServerError, Reason: "query 7: syntax"}},
		"unsupported": {err: fmt.Errorf("%w: too many points", query.ErrUnsupported), unsupported: "query 7: " + query.ErrUnsupported.Error() + ": too many points"},
		"gone":        {err: fmt.Errorf("dial: %w", driver.ErrUnreachable), gone: driver.ErrUnreachable, fatal: driver.ErrUnreachable},
		"broken": {
			err:    fmt.Errorf("%w: connection reset", driver.ErrUnreachable),
			failed: &result.Failure{Cause: result.ConnectionLost, Reason: "query 7: cannot be reached: connection reset; the server answers on a new connection"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stub{gone: test.gone, do: func(_ context.Context, text string) (driver.Cost, error) {
				if text == "7" {
					return test.cost, test.err
				}
				return driver.Cost{Rows: 2}, nil
			}}
			q, err := run(t.Context(), engine.QueryConfig{Workers: 2}, driver.DB{Required: s}, queries(100), ignore)
			if !reflect.DeepEqual(q.Failed, test.failed) || q.Unsupported != test.unsupported || q.Verdict.Difference != test.withheld {
				t.Errorf("failed: %v, unsupported: %q, wrong: %q; want %v, %q, %q", q.Failed, q.Unsupported, q.Verdict.Difference, test.failed, test.unsupported, test.withheld)
			}
			if q.Withheld != test.withheld || !errors.Is(err, test.fatal) {
				t.Errorf("withheld %q, error %v; want %q, %v", q.Withheld, err, test.withheld, test.fatal)
			}
		})
	}
}

func TestInterrupted(t *testing.T) { inBothLoops(t, testInterrupted) }

func testInterrupted(t *testing.T, run queryFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &stub{do: func(ctx context.Context, text string) (driver.Cost, error) {
		if text == "5" {
			cancel()
		}
		return driver.Cost{Rows: 2}, ctx.Err()
	}}
	if _, err := run(ctx, engine.QueryConfig{Workers: 2}, driver.DB{Required: s}, queries(100), ignore); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// BenchmarkQuery is what the engine adds to a query.
func BenchmarkQuery(b *testing.B) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 2}, nil }}
	b.ReportAllocs()
	if _, err := engine.Query(b.Context(), engine.QueryConfig{Workers: 1}, driver.DB{Required: s}, queries(b.N), ignore); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLoad is what the engine and the generator add to a row.
func BenchmarkLoad(b *testing.B) {
	s := &stub{write: func(_ context.Context, _ int, batch *series.Batch) (driver.Receipt, error) {
		now := time.Now()
		return driver.Receipt{Sent: now, Acked: now, Rows: int64(batch.Rows())}, nil
	}}
	d := dataset(b, 100, 240*time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := engine.Load(b.Context(), engine.LoadConfig{Workers: 1, BatchSize: 10_000, Period: time.Second}, d, driver.DB{Required: s}, ignore); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(8.64*float64(b.N)/b.Elapsed().Seconds(), "Mrows/s")
}

// A failed batch is named although runs of it are empty, as those of hosts that
// do not exist yet are.
func TestFailureOfBatchWithEmptyRuns(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.Devops().Dataset(workload.Spec{
		Name: "devops", Seed: 1, Scale: 10, InitialScale: 1, Start: start, End: start.Add(time.Hour), Interval: time.Minute, Groups: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	for fails := range 40 {
		batches := 0
		s := &stub{write: func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
			if batches++; batches > fails {
				return driver.Receipt{}, errors.New("no room")
			}
			return driver.Receipt{Rows: int64(b.Rows())}, nil
		}}
		_, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 1}, d, driver.DB{Required: s}, func(int) {})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("writer 0, batch %d (rows %[1]d to %[1]d, ", fails+1)) {
			t.Fatalf("batch %d: %v", fails, err)
		}
	}
}
