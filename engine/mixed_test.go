package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// lastRow queries the newest row of each host, which fits below any watermark.
func lastRow() []engine.MixedQueries {
	return []engine.MixedQueries{{Type: "lastpoint", Queries: []query.Query{{Type: "lastpoint", Table: "cpu", Shape: query.Last{By: "hostname", Fields: []string{"usage_user"}}}}}}
}

func renderEnd(q *query.Query, _ *series.Schema) (driver.Request, error) {
	return driver.Request{Text: q.End.Format(time.RFC3339Nano)}, nil
}

func mixedConfig() engine.MixedConfig {
	return engine.MixedConfig{
		LoadConfig: engine.LoadConfig{Workers: 3, BatchSize: 100}, Queriers: 2,
		Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC), Windows: workload.Recent, Keep: 4,
	}
}

func accept(b *series.Batch) driver.Receipt {
	now := time.Now()
	return driver.Receipt{Sent: now, Acked: now, Rows: int64(b.Rows())}
}

// A query run when everything before a moment is acknowledged ends at
// that moment, and not later: here the second batch hangs until all others
// that fit are written.
func TestWatermarkWaitsForSlowest(t *testing.T) {
	d := dataset(t, 100, time.Hour) // a batch an epoch
	release := make(chan struct{})
	queried := []chan struct{}{make(chan struct{}), make(chan struct{})} // closed when queries have had one end, and two
	await := func(c <-chan struct{}) {
		select {
		case <-c:
		case <-time.After(10 * time.Second):
			t.Error("no query within 10 s")
		}
	}
	s := &stub{}
	s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
		switch time.Unix(0, b.Runs[0].Times[0]).UTC().Format("04:05") {
		case "00:10":
			<-release
		case "02:00":
			await(queried[0])
			close(release)
		case "59:50":
			await(queried[1])
		}
		return accept(b), nil
	}
	var ends []string
	s.do = func(_ context.Context, text string) (driver.Cost, error) {
		if len(ends) == 0 || ends[len(ends)-1] != text {
			if ends = append(ends, text); len(ends) <= len(queried) {
				close(queried[len(ends)-1])
			}
		}
		return driver.Cost{}, nil
	}
	cfg := mixedConfig()
	cfg.Queriers, cfg.Workers = 1, 2
	if _, _, err := engine.RunMixed(t.Context(), cfg, d, driver.DB{Required: s}, renderEnd, lastRow(), ignore); err != nil {
		t.Fatal(err)
	}
	// Of the first batch no row is later than the start, so nothing is run
	// before it; then the second one holds everything back.
	if len(ends) < 2 || ends[0] != "2016-01-01T00:00:10Z" || ends[1] < "2016-01-01T00:02" {
		t.Errorf("queries end at %v", ends)
	}
}

// Late rows keep queries further back.
func TestWatermarkAllowsForLateness(t *testing.T) {
	d := dataset(t, 100, time.Hour)
	s := &stub{}
	s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) { return accept(b), nil }
	var problem error
	s.do = func(_ context.Context, text string) (driver.Cost, error) {
		end, err := time.Parse(time.RFC3339Nano, text)
		if err == nil && end.After(mixedConfig().Start.Add(40*time.Minute-10*time.Second)) {
			err = fmt.Errorf("a query ends at %s", text)
		}
		problem = errors.Join(problem, err)
		return driver.Cost{}, nil
	}
	cfg := mixedConfig()
	// With a single writer and a single querier the order of batches and queries is fixed.
	cfg.Workers, cfg.Queriers, cfg.Lateness, cfg.Share = 1, 1, 20*time.Minute, 0.5
	out, _, err := engine.RunMixed(t.Context(), cfg, d, driver.DB{Required: s}, renderEnd, lastRow(), ignore)
	if err != nil || problem != nil {
		t.Fatal(err, problem)
	}
	// Nothing can be run before the 122nd epoch has been read, which is a
	// few before it is written.
	if early := out.Early; early < 110 || early > 130 || out.Types[0].Executed != 360-early {
		t.Errorf("%d of %d too early, %d ran", early, out.Arrivals, out.Types[0].Executed)
	}
}

// isLast reports whether a batch has the last rows of ten minutes.
func isLast(b *series.Batch) bool {
	return time.Unix(0, b.Runs[0].Times[0]).UTC().Format("04:05") == "09:50"
}

// awaitQuery waits for a query. The last write calls it, so that the phase does not end before the
// query.
func awaitQuery(ctx context.Context, queried <-chan struct{}) {
	select {
	case <-queried:
	case <-ctx.Done():
	case <-time.After(10 * time.Second): // the test's checks then fail
	}
}

// A failure ends the phase, or only its type, and is reported.
func TestMixedFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	for name, test := range map[string]struct {
		write func(*series.Batch) error
		do    func() error
		gone  error  // why the target does not describe itself
		end   error  // wanted of the phase
		text  string // in the error or in the type's result
	}{
		"batch":       {write: func(b *series.Batch) error { return errors.New("disk full") }, end: errors.ErrUnsupported, text: "writer 0, batch 1 (rows 1 to 100, cpu from 2016-01-01T00:00:00Z to 2016-01-01T00:00:00Z): disk full"},
		"unreachable": {do: func() error { return driver.ErrUnreachable }, gone: driver.ErrUnreachable, end: driver.ErrUnreachable, text: "query 0 of lastpoint: cannot be reached"},
		"broken":      {do: func() error { return driver.ErrUnreachable }, text: "query 0: cannot be reached; the server answers on a new connection"},
		"query":       {do: func() error { return errors.New("syntax error") }, text: "query 0: syntax error"},
		"interrupted": {do: func() error {
			if n++; n == 3 {
				cancel()
			}
			return nil
		}, end: context.Canceled, text: "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stub{gone: test.gone}
			of := t.Context()
			if name == "interrupted" {
				of = ctx
			}
			failed := make(chan struct{}) // closed by the query that fails or interrupts
			s.write = func(ctx context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
				if test.write != nil {
					return driver.Receipt{}, test.write(b)
				}
				if isLast(b) {
					awaitQuery(ctx, failed)
				}
				return accept(b), nil
			}
			closeOnce := sync.OnceFunc(func() { close(failed) })
			s.do = func(context.Context, string) (driver.Cost, error) {
				if test.do == nil {
					return driver.Cost{}, nil
				}
				err := test.do()
				if err != nil || of.Err() != nil {
					closeOnce()
				}
				return driver.Cost{}, err
			}
			cfg := mixedConfig()
			cfg.Workers, cfg.Queriers = 1, 1
			out, journal, err := engine.RunMixed(of, cfg, dataset(t, 100, 10*time.Minute), driver.DB{Required: s}, renderEnd, lastRow(), ignore)
			said := ""
			if f := out.Types[0].Failed; f != nil {
				said = f.Reason
			}
			if err != nil {
				said = err.Error()
			}
			if out.Types[0].Withheld != "" {
				t.Errorf("withheld: %s", out.Types[0].Withheld)
			}
			if (err == nil) != (test.end == nil) || test.end != nil && test.end != errors.ErrUnsupported && !errors.Is(err, test.end) || !strings.Contains(said, test.text) {
				t.Errorf("error %v, failed: %v; want %q", err, out.Types[0].Failed, test.text)
			}
			if journal == nil || s.writers.Load() != 0 {
				t.Errorf("%d writers were left open", s.writers.Load())
			}
		})
	}
}

// What the target cannot answer is not run, and says why.
func TestMixedUnsupported(t *testing.T) {
	queried := make(chan struct{})
	closeOnce := sync.OnceFunc(func() { close(queried) })
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { closeOnce(); return driver.Cost{}, nil }}
	s.write = func(ctx context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
		if isLast(b) {
			awaitQuery(ctx, queried)
		}
		return accept(b), nil
	}
	render := func(q *query.Query, schema *series.Schema) (driver.Request, error) {
		if q.Type == "impossible" {
			return driver.Request{}, fmt.Errorf("%w: no joins", query.ErrUnsupported)
		}
		return renderEnd(q, schema)
	}
	types := append(lastRow(), lastRow()...)
	types[0].Type, types[0].Queries[0].Type = "impossible", "impossible"
	out, _, err := engine.RunMixed(t.Context(), mixedConfig(), dataset(t, 100, 10*time.Minute), driver.DB{Required: s}, render, types, ignore)
	if err != nil {
		t.Fatal(err)
	}
	if out.Types[0].Unsupported != "not supported: no joins" || out.Types[0].Executed != 0 || out.Types[1].Executed == 0 || out.Problem() != "" {
		t.Errorf("%q, %d ran; %d ran; %s", out.Types[0].Unsupported, out.Types[0].Executed, out.Types[1].Executed, out.Problem())
	}
}

// Types are run as often as their weights say.
func TestMixedWeights(t *testing.T) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 1}, nil }}
	s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) { return accept(b), nil }
	types := append(lastRow(), lastRow()...)
	types[0].Weight = 4
	cfg := mixedConfig()
	cfg.Share = 0.5    // a query to each batch
	cfg.Loaded = 2_000 // of 6,000 rows: none of 40 queries comes too early
	out, _, err := engine.RunMixed(t.Context(), cfg, dataset(t, 100, 10*time.Minute), driver.DB{Required: s}, renderEnd, types, ignore)
	if err != nil {
		t.Fatal(err)
	}
	if often, once := out.Types[0].Executed, out.Types[1].Executed; once < 6 || often < 4*once-4 || often > 4*once+4 {
		t.Errorf("ran %d and %d times by weights of 4 and 1", often, once)
	}
}

// More loaded rows than the dataset has are refused before anything starts.
func TestMixedLoadedTooMuch(t *testing.T) {
	cfg := mixedConfig()
	cfg.Loaded = 7000
	const want = "7000 rows are loaded, but the dataset has 6000"
	if _, _, err := engine.RunMixed(t.Context(), cfg, dataset(t, 100, 10*time.Minute), driver.DB{Required: &stub{}}, renderEnd, lastRow(), ignore); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// The answers that are remembered are as many as are wanted, of the whole phase.
func TestJournalIsBounded(t *testing.T) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 1}, nil }}
	s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) { return accept(b), nil }
	cfg := mixedConfig()
	cfg.Share, cfg.Queriers = 0.001, 1
	out, journal, err := engine.RunMixed(t.Context(), cfg, dataset(t, 100, 11*time.Minute), driver.DB{Required: s}, renderEnd, lastRow(), ignore)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		kept  []engine.Answered
		limit int
	}{"full": {journal.Types[0].Full, cfg.Keep}, "counted": {journal.Types[0].Counted, 8_192}} {
		last := slices.MaxFunc(test.kept, func(a, b engine.Answered) int { return cmp.Compare(a.Position, b.Position) })
		if n := len(test.kept); n != test.limit || last.Position < out.Types[0].Executed/2 {
			t.Errorf("%s: %d of %d answers kept, the last one of number %d", name, n, out.Types[0].Executed, last.Position)
		}
	}
}

// BenchmarkMixedQuery is what the phase adds to a query: placing its window,
// rendering, and remembering it.
func BenchmarkMixedQuery(b *testing.B) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 2}, nil }}
	s.write = func(_ context.Context, _ int, batch *series.Batch) (driver.Receipt, error) { return accept(batch), nil }
	cfg := mixedConfig()
	cfg.Workers, cfg.Queriers, cfg.Loaded = 1, 1, 50
	cfg.Share = 1 / float64(b.N+1)
	b.ReportAllocs()
	b.ResetTimer()
	out, _, err := engine.RunMixed(b.Context(), cfg, workload.LimitRows(dataset(b, 50, time.Hour), 150), driver.DB{Required: s}, renderEnd, lastRow(), ignore)
	if err != nil || out.Arrivals != int64(b.N) {
		b.Fatal(err, out.Arrivals)
	}
}
