package verify_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

func ignore(int) {}

// spec is 2 hours of 20 hosts: 14,400 rows.
func spec() workload.Spec {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	return workload.Spec{Name: "cpu-only", Seed: 1, Scale: 20, Start: start, End: start.Add(2 * time.Hour), Interval: 10 * time.Second}
}

// config writes the second half of the dataset while two queriers run queries.
func config(s workload.Spec) engine.MixedConfig {
	return engine.MixedConfig{
		LoadConfig: engine.LoadConfig{Workers: 2, BatchSize: 200},
		Queriers:   2, Loaded: 7200, Start: s.Start, Windows: workload.Recent, Keep: 40,
	}
}

// queriesOf draws queries about half an hour.
func queriesOf(t *testing.T, s workload.Spec, types ...string) (list []engine.MixedQueries) {
	t.Helper()
	longer := s
	longer.End = s.Start.Add(24 * time.Hour) // for types that look at half a day
	for _, name := range types {
		sequence, err := tsbs.CPUOnly().Queries(longer, name, 1000)
		if err != nil {
			t.Fatal(err)
		}
		queries := slices.Collect(sequence)
		for i := range queries {
			if q := &queries[i]; !q.Start.IsZero() {
				q.End = q.Start.Add(30 * time.Minute)
			}
		}
		list = append(list, engine.MixedQueries{Type: name, Queries: queries})
	}
	return list
}

// runMixed loads the rows that are there before, runs the phase and checks it.
func runMixed(t *testing.T, kind driver.Driver, s workload.Spec, cfg engine.MixedConfig, types ...string) (*result.Mixed, *engine.Journal, error) {
	t.Helper()
	use := tsbs.CPUOnly()
	d, err := use.Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	list := queriesOf(t, s, types...)
	db, err := kind.Open(t.Context(), driver.Env{Create: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.New(db).Prepare(t.Context(), d.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	if cfg.Loaded > 0 {
		load := engine.LoadConfig{Workers: 1, BatchSize: 1000}
		if _, err := engine.Load(t.Context(), load, workload.LimitRows(d, cfg.Loaded), db, ignore); err != nil {
			t.Fatal(err)
		}
	}
	out, journal, err := engine.RunMixed(t.Context(), cfg, d, db, kind.Renderer(nil), list, ignore)
	if err == nil {
		err = verify.CheckMixed(t.Context(), d, journal, out, verify.MixedProgress{})
	}
	return out, journal, err
}

// someTypes have all shapes that the devops queries have.
var someTypes = []string{"single-groupby-1-8-1", "groupby-orderby-limit", "double-groupby-1", "high-cpu-all", "lastpoint"}

// slow takes two milliseconds a batch, so that there is time for queries.
func slow(kind driver.Driver) driver.Driver {
	return hinder(kind, hindered{writer: func(w driver.Writer) driver.Writer {
		return writeFunc{w, func(ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
			time.Sleep(2 * time.Millisecond)
			return w.Write(ctx, b)
		}}
	}})
}

// queryFirst delays the last batch of a dataset with that end until each of someTypes has been queried
// several times.
func queryFirst(kind driver.Driver, end time.Time) driver.Driver {
	queries := 6 * int64(len(someTypes)) // by share, 35 precede the last batch
	queried := make(chan struct{})
	var ran atomic.Int64
	return hinder(slow(kind), hindered{
		writer: func(w driver.Writer) driver.Writer {
			return writeFunc{w, func(ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
				if _, last := b.Times(); last >= end.Add(-10*time.Second).UnixNano() {
					select {
					case <-queried:
					case <-ctx.Done():
					case <-time.After(10 * time.Second): // the test's checks then fail
					}
				}
				return w.Write(ctx, b)
			}}
		},
		querier: func(q driver.Querier) driver.Querier {
			return doFunc{q, func(ctx context.Context, q driver.Querier, r driver.Request, sink query.Sink) (driver.Cost, error) {
				defer func() {
					if ran.Add(1) == queries {
						close(queried)
					}
				}()
				return q.Do(ctx, r, sink)
			}}
		},
	})
}

// An exact target is neither stale nor wrong, with every setting.
func TestMixedExact(t *testing.T) {
	for name, set := range map[string]func(*engine.MixedConfig){
		"as fast as it goes": func(*engine.MixedConfig) {},
		"by share":           func(c *engine.MixedConfig) { c.Share = 0.5 },
		"by rates": func(c *engine.MixedConfig) {
			c.RowRate, c.QueryRate, c.Queue = pace.Constant(14_400), pace.Constant(400), 1000
		},
		"uniform":    func(c *engine.MixedConfig) { c.Windows = workload.Uniform },
		"aligned":    func(c *engine.MixedConfig) { c.Align = true },
		"from empty": func(c *engine.MixedConfig) { c.Loaded = 0 },
		"one writer": func(c *engine.MixedConfig) { c.Workers, c.Queriers = 1, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := spec()
			cfg := config(s)
			set(&cfg)
			out, _, err := runMixed(t, queryFirst(memory.Driver("memory"), s.End), s, cfg, someTypes...)
			if err != nil {
				t.Fatal(err)
			}
			if out.Writes.Rows != 14_400-cfg.Loaded || out.Problem() != "" {
				t.Errorf("%d rows written, problem %q", out.Writes.Rows, out.Problem())
			}
			for _, q := range out.Types {
				if !q.Verdict.OK() || q.Stale > 0 || q.Unexamined > 0 || q.Executed == 0 || q.Rows == 0 {
					t.Errorf("%s: %d run, %d rows, %s, %d stale, %d not examined", q.Type, q.Executed, q.Rows, q.Verdict, q.Stale, q.Unexamined)
				}
				if q.Type != "lastpoint" && q.Executed > 2*int64(cfg.Keep) && q.Counted == 0 {
					t.Errorf("%s: %d run, none counted", q.Type, q.Executed)
				}
			}
		})
	}
}

// A target that shows rows late gives stale answers, whose freshness is about the delay.
func TestMixedStale(t *testing.T) {
	const delay = 60 * time.Millisecond
	s := spec()
	cfg := config(s)
	cfg.RowRate, cfg.QueryRate, cfg.Queue = pace.Constant(14_400), pace.Constant(400), 1000 // for half a second
	out, _, err := runMixed(t, memory.SlowDriver("delayed", delay), s, cfg, someTypes...)
	if err != nil {
		t.Fatal(err)
	}
	if p := out.Problem(); p != "" {
		t.Errorf("wrong, not stale: %s", p)
	}
	longest := 0.0 // on a busy machine few queries of a type, or none, are run in time
	for _, q := range out.Types {
		f := q.Freshness
		longest = max(longest, f.Max)
		if f.Count != q.Stale || f.Max > delay.Seconds() || f.Min < 0 {
			t.Errorf("%s: %d of %d stale, by %v to %v s; want up to %v", q.Type, q.Stale, q.Executed, f.Min, f.Max, delay)
		}
	}
	if longest < delay.Seconds()/2 {
		t.Errorf("stale by %v s at most, want about %v", longest, delay)
	}
	if out.Writes.Settled-out.Writes.Acked < delay.Seconds() {
		t.Errorf("settled %v s after the last acknowledgement", out.Writes.Settled-out.Writes.Acked)
	}
}

// hindered is a target with other writers or queriers.
type hindered struct {
	driver.Required
	writer  func(driver.Writer) driver.Writer
	querier func(driver.Querier) driver.Querier
}

func (h hindered) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := h.Required.NewWriter(ctx, worker)
	if h.writer != nil {
		w = h.writer(w)
	}
	return w, err
}

func (h hindered) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := h.Required.NewQuerier(ctx, worker)
	if h.querier != nil {
		q = h.querier(q)
	}
	return q, err
}

// hinder returns the kind with other writers or queriers.
func hinder(kind driver.Driver, h hindered) driver.Driver {
	open := kind.Open
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		t, err := open(ctx, env, o)
		return driver.DB{Required: hindered{t, h.writer, h.querier}}, err
	}
	return kind
}

type writeFunc struct {
	driver.Writer
	write func(context.Context, driver.Writer, *series.Batch) (driver.Receipt, error)
}

func (w writeFunc) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	return w.write(ctx, w.Writer, b)
}

type doFunc struct {
	driver.Querier
	do func(context.Context, driver.Querier, driver.Request, query.Sink) (driver.Cost, error)
}

func (q doFunc) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	return q.do(ctx, q.Querier, r, sink)
}

// Targets with various errors are detected, and targets that are only unusual are not.
func TestMixedWrong(t *testing.T) {
	writes := func(write func(context.Context, driver.Writer, *series.Batch) (driver.Receipt, error)) hindered {
		return hindered{writer: func(w driver.Writer) driver.Writer { return writeFunc{w, write} }}
	}
	does := func(do func(context.Context, driver.Querier, driver.Request, query.Sink) (driver.Cost, error)) hindered {
		return hindered{querier: func(q driver.Querier) driver.Querier { return doFunc{q, do} }}
	}
	var batches, answers atomic.Int64
	for name, test := range map[string]struct {
		target hindered
		want   string // part of the type's problem; empty: none
	}{
		"a row of a batch lost": {writes(func(ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
			run := &b.Runs[0]
			rows := run.Rows()
			run.Series[rows-1], run.Times[rows-1] = run.Series[0], run.Times[0] // one row twice, another not at all
			return w.Write(ctx, b)
		}), "no older state matches it"},
		"rows beyond the window": {does(func(ctx context.Context, q driver.Querier, r driver.Request, sink query.Sink) (driver.Cost, error) {
			// 30 minutes become two hours.
			r.Text = strings.Replace(r.Text, `"end":"2016-01-01T0`, `"end":"2016-01-01T1`, 1)
			return q.Do(ctx, r, sink)
		}), "no older state matches it"},
		"fails": {does(func(ctx context.Context, q driver.Querier, r driver.Request, sink query.Sink) (driver.Cost, error) {
			if answers.Add(1) == 20 {
				return driver.Cost{}, errors.New("out of memory")
			}
			return q.Do(ctx, r, sink)
		}), "out of memory"},
		// The rows come while the query is under way. They lie beyond the
		// watermark, so they are in no window.
		"answers from the future": {does(func(ctx context.Context, q driver.Querier, r driver.Request, sink query.Sink) (driver.Cost, error) {
			time.Sleep(3 * time.Millisecond)
			return q.Do(ctx, r, sink)
		}), ""},
		// Acknowledged out of order by up to one batch.
		"overtaken": {writes(func(ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
			if batches.Add(1)%2 == 0 {
				time.Sleep(3 * time.Millisecond)
			}
			return w.Write(ctx, b)
		}), ""},
		// Rows acknowledged by a later receipt.
		"acknowledged late": {hindered{writer: func(w driver.Writer) driver.Writer { return &lagging{Writer: w} }}, ""},
		// A protocol without acknowledgements: rows count when they are sent.
		"not acknowledged": {writes(func(ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
			r, err := w.Write(ctx, b)
			r.Acked = time.Time{}
			return r, err
		}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec()
			cfg := config(s)
			cfg.Share = 0.2
			out, _, err := runMixed(t, hinder(memory.Driver("memory"), test.target), s, cfg, "double-groupby-1")
			if err != nil {
				t.Fatal(err)
			}
			q := &out.Types[0]
			said := q.Withheld
			if name == "fails" {
				said = cmp.Or(said, q.Failed.Error())
				if said == q.Withheld || q.Verdict.Difference != "" {
					t.Errorf("an error counts as a wrong answer: %q, %q", q.Withheld, q.Verdict.Difference)
				}
			}
			if (said == "") != (test.want == "") || !strings.Contains(said, test.want) {
				t.Errorf("said: %q, want %q", said, test.want)
			}
			if test.want == "" && (q.Stale > 0 || !q.Verdict.OK() || q.Executed == 0) {
				t.Errorf("%d run, %s, %d stale", q.Executed, q.Verdict, q.Stale)
			}
		})
	}
}

// lagging acknowledges each batch with the next one.
type lagging struct {
	driver.Writer
	kept driver.Receipt
}

func (w *lagging) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	before := w.kept
	var err error
	w.kept, err = w.Writer.Write(ctx, b)
	before.Sent, before.Acked = w.kept.Sent, time.Time{}
	if before.Rows > 0 {
		before.Acked = w.kept.Acked
	}
	return before, err
}

func (w *lagging) Flush(context.Context) (driver.Receipt, error) {
	r := w.kept
	w.kept = driver.Receipt{}
	return r, nil
}

// A share of 0.8 is four batches a query, whatever either takes.
func TestMixedShare(t *testing.T) {
	for share, want := range map[float64]int64{0.8: 9, 0.5: 36, 0.1: 324} {
		s := spec()
		cfg := config(s)
		cfg.Share = share
		out, _, err := runMixed(t, memory.Driver("memory"), s, cfg, "lastpoint")
		if err != nil {
			t.Fatal(err)
		}
		if q := &out.Types[0]; q.Executed != want || out.Arrivals != want || out.Early != 0 || out.Dropped != 0 || out.Writes.Batches.Count != 36 {
			t.Errorf("share %v: %d batches, %d queries due, %d run, %d too early; want 36 and %d", share, out.Writes.Batches.Count, out.Arrivals, q.Executed, out.Early, want)
		}
	}
}

// stalls observes the machine's scheduling: the function that it returns reports the longest delay,
// in seconds, beyond a wait of a millisecond.
func stalls() func() float64 {
	end, found := make(chan struct{}), make(chan float64)
	go func() {
		most, last := time.Duration(0), time.Now()
		for {
			select {
			case <-end:
				found <- max(most, time.Since(last)).Seconds()
				return
			case <-time.After(time.Millisecond):
				most = max(most, time.Since(last)-time.Millisecond)
				last = time.Now()
			}
		}
	}()
	return func() float64 { close(end); return <-found }
}

// Both rates are kept, the phase ends in time, and the rows written by then are the dataset's
// first.
func TestMixedRates(t *testing.T) {
	s := spec()
	cfg := config(s)
	cfg.RowRate, cfg.QueryRate, cfg.Queue, cfg.Duration = pace.Constant(10_000), pace.Constant(200), 100, 400*time.Millisecond
	var out *result.Mixed
	var journal *engine.Journal
	late := 0.0 // seconds of scheduling delay observed on the machine
	for range 5 {
		stalled := stalls()
		var err error
		out, journal, err = runMixed(t, memory.Driver("memory"), s, cfg, "single-groupby-1-1-1")
		if err != nil {
			t.Fatal(err)
		}
		if late = max(stalled(), out.Response.Max, out.Lag.Max); late < 0.03 {
			break // the machine is busy: try again later
		}
	}
	// A batch is due every 20 ms, the first one at 20 ms (less the one row that is due at 0); the
	// twentieth at the very end. Batches due while the machine was suspended at the end are
	// missing, and a suspended writer allows queries to arrive for longer.
	if float64(out.Writes.Rows) < 3800-10_000*late || out.Writes.Rows > 4000 || out.RowRate != "10000/s" || out.Response.Count != out.Writes.Rows/200 {
		t.Errorf("%d rows written, response %+v, late by %v s", out.Writes.Rows, out.Response, late)
	}
	if float64(out.Arrivals) < 70-200*late || float64(out.Arrivals) > 90+200*late || out.QueryRate != "200/s" || out.Lag.Count != out.Arrivals {
		t.Errorf("%d queries due, lag %+v, late by %v s", out.Arrivals, out.Lag, late)
	}
	q := &out.Types[0]
	if q.Executed+out.Early+out.Dropped+out.Waiting != out.Arrivals || q.Response.Count != q.Service.Count || q.Response.Median < q.Service.Median || math.Abs(q.PerSecond-float64(q.Executed)/out.Wall) > 1e-9 {
		t.Errorf("%d run, %d and %d latencies, of %d due, %d early, %d dropped", q.Executed, q.Service.Count, q.Response.Count, out.Arrivals, out.Early, out.Dropped)
	}
	written := int64(0)
	for _, w := range journal.Shares[0].Writes {
		if w.Acked != engine.Never {
			written += w.Rows
		}
	}
	if written != out.Writes.Rows {
		t.Errorf("%d rows acknowledged in the journal, %d counted", written, out.Writes.Rows)
	}
}

// For a system that shows the rows of a batch separately, an answer without some of them is stale
// and not wrong. An answer that matches no part of the rows is wrong: with nonexistent rows,
// without rows that were loaded before, or with another value, even within the limits of its group.
func TestMixedInParts(t *testing.T) {
	for name, test := range map[string]struct {
		queries  string
		from, to string  // in the query
		add      float64 // to values
		wrong    bool
		hidden   bool // rows that were loaded before may be missing
	}{
		"no rows":                  {"double-groupby-1", `"end":"2016-01-01T0`, `"end":"2015-01-01T0`, 0, true, false},
		"no rows, and none loaded": {"double-groupby-1", `"end":"2016-01-01T0`, `"end":"2015-01-01T0`, 0, false, true},
		"more rows":                {"double-groupby-1", `"end":"2016-01-01T0`, `"end":"2016-01-01T1`, 0, true, false},
		"other values":             {"double-groupby-1", "", "", 1000, true, false},
		"a mean for a maximum":     {"single-groupby-1-1-1", `"max"`, `"avg"`, 0, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec()
			cfg := config(s)
			cfg.Share = 0.2
			out, journal, err := runMixed(t, hinder(memory.Driver("memory"), hindered{querier: func(q driver.Querier) driver.Querier {
				return doFunc{q, func(ctx context.Context, q driver.Querier, r driver.Request, sink query.Sink) (driver.Cost, error) {
					r.Text = strings.Replace(r.Text, test.from, test.to, 1)
					return q.Do(ctx, r, query.SinkFunc(func(row []query.Value) error {
						changed := slices.Clone(row)
						changed[len(row)-1].Float += test.add
						return sink.Row(changed)
					}))
				}}
			}}), s, cfg, test.queries)
			if err != nil || out.Types[0].Withheld == "" {
				t.Fatalf("without parts: %v, withheld %q", err, out.Types[0].Withheld)
			}
			d, err := tsbs.CPUOnly().Dataset(s)
			if err != nil {
				t.Fatal(err)
			}
			journal.InParts, journal.Hidden = true, test.hidden
			q := &out.Types[0]
			*q = result.MixedType{Type: q.Type}
			if err := verify.CheckMixed(t.Context(), d, journal, out, verify.MixedProgress{}); err != nil {
				t.Fatal(err)
			}
			if (q.Withheld != "") != test.wrong || !test.wrong && (q.PartialBatches == 0 || q.Stale < q.PartialBatches || q.StaleShare() < result.MostStale) {
				t.Errorf("withheld %q, %d stale, %d of them in parts", q.Withheld, q.Stale, q.PartialBatches)
			}
			if !test.wrong && q.Unmatched >= q.PartialBatches { // for some answers only the number of rows is known
				t.Errorf("%d of %d answers match no state", q.Unmatched, q.PartialBatches)
			}
		})
	}
}
