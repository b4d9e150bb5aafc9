package engine_test

import (
	"context"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// queryFunc is engine.Query, or what looks like it.
type queryFunc func(context.Context, engine.QueryConfig, driver.DB, engine.Source, engine.Progress) (*result.Queries, error)

// inBothLoops tests the closed loop, and an open one that runs each query
// once.
func inBothLoops(t *testing.T, test func(*testing.T, queryFunc)) {
	t.Run("closed", func(t *testing.T) { test(t, engine.Query) })
	t.Run("open", func(t *testing.T) {
		test(t, func(ctx context.Context, cfg engine.QueryConfig, target driver.DB, q engine.Source, progress engine.Progress) (*result.Queries, error) {
			open := engine.OpenConfig{QueryConfig: cfg, Schedule: pace.Constant(20_000), Count: q.Len(), Queue: q.Len()}
			return engine.QueryOpen(ctx, open, target, q, progress)
		})
	})
}

// Queries are run in their order and again, at the intended rate, until
// the time box ends; burn-in is not recorded.
func TestQueryOpen(t *testing.T) {
	var mu sync.Mutex
	var ran []string
	s := &stub{do: func(_ context.Context, text string) (driver.Cost, error) {
		mu.Lock()
		defer mu.Unlock()
		ran = append(ran, text)
		return driver.Cost{Rows: 2, Bytes: 16}, nil
	}}
	q, err := engine.QueryOpen(t.Context(), engine.OpenConfig{
		QueryConfig: engine.QueryConfig{Workers: 1, BurnIn: 10, TimeBox: 500 * time.Millisecond},
		Schedule:    pace.Constant(200), Queue: 1000,
	}, driver.DB{Required: s}, queries(40), ignore)
	if err != nil || q.Withheld != "" {
		t.Fatal(err, q.Withheld)
	}
	for i, text := range ran {
		if want := strconv.Itoa(i % 40); text != want {
			t.Fatalf("query %d is query %s, want %s", i, text, want)
		}
	}
	if len(ran) != 110 || q.Executed != 100 || q.BurnIn != 10 || q.Rows != 200 || q.Bytes != 1600 || q.Service.Count != 100 {
		t.Errorf("%d ran: %d, burn-in %d, rows %d, bytes %d, latencies %d", len(ran), q.Executed, q.BurnIn, q.Rows, q.Bytes, q.Service.Count)
	}
	if len(q.Each) != 40 || q.Each[9] != 0 || q.Each[10] <= 0 || q.Each[39] <= 0 {
		t.Errorf("times of each query: %v", q.Each)
	}
	o := q.Open
	if o.Schedule != "200/s" || o.Queue != 1000 || o.Arrivals != 100 || o.Dropped != 0 || o.Response.Count != 100 || o.Lag.Count != 100 {
		t.Errorf("of the open loop: %+v", o)
	}
	if math.Abs(o.Offered-200) > 1e-6 || q.Wall < 0.495 || q.PerSecond > 100/0.495 {
		t.Errorf("%v/s offered, %v/s done in %v s", o.Offered, q.PerSecond, q.Wall)
	}
	if o.Response.Median < q.Service.Median || o.Response.Max < o.Lag.Max {
		t.Errorf("response %+v leaves out service %+v or lag %+v", o.Response.Summary, q.Service.Summary, o.Lag.Summary)
	}
}

// A target that stalls for a second once, as in a garbage collection, keeps
// everybody waiting who comes meanwhile. The open loop's response times show
// it. The service times hardly do, since only a query a worker was under way.
func TestStallShows(t *testing.T) {
	const stallFor = time.Second
	var once sync.Once
	var stalled sync.RWMutex
	var ran atomic.Int64
	s := &stub{do: func(context.Context, string) (driver.Cost, error) {
		if ran.Add(1) > 1000 {
			once.Do(func() {
				stalled.Lock()
				defer stalled.Unlock()
				time.Sleep(stallFor)
			})
		}
		stalled.RLock()
		defer stalled.RUnlock()
		return driver.Cost{Rows: 2}, nil
	}}
	q, err := engine.QueryOpen(t.Context(), engine.OpenConfig{
		QueryConfig: engine.QueryConfig{Workers: 4}, Schedule: pace.Constant(2000), Count: 4000, Queue: 4000,
	}, driver.DB{Required: s}, queries(100), ignore)
	if err != nil || q.Withheld != "" {
		t.Fatal(err, q.Withheld)
	}
	// Of 4000 arrivals 2000 come during the stall: the slowest 1 % and 0.1 %
	// wait for at least 0.98 s and 0.998 s.
	if r := q.Open.Response; r.P99 < 0.95 || r.P999 < 0.99 || r.Count != 4000 || q.Open.Dropped != 0 {
		t.Errorf("the stall does not show: response %+v, %d dropped", r.Summary, q.Open.Dropped)
	}
	if q.Service.Median > 0.01 || q.Service.P99 > 0.5 || q.Service.Max < 0.9 {
		t.Errorf("service time: %+v", q.Service.Summary)
	}
	// The same in a closed loop: 4 of 4000 queries, and who looks at p99 or
	// the median sees nothing.
	ran.Store(0)
	once = sync.Once{}
	if q, err = engine.Query(t.Context(), engine.QueryConfig{Workers: 4}, driver.DB{Required: s}, queries(4000), ignore); err != nil || q.Open != nil || q.Service.P99 > 0.5 {
		t.Errorf("closed loop: %+v, error %v", q.Service.Summary, err)
	}
}

// scripted is a schedule whose arrivals are all due at once; the test follows its iteration.
type scripted func(yield func(time.Duration) bool)

func (s scripted) Arrivals() iter.Seq[time.Duration] { return iter.Seq[time.Duration](s) }
func (s scripted) String() string                    { return "scripted" }

// With two workers busy and room for three in the queue, fifteen of twenty
// arrivals are dropped.
func TestDropped(t *testing.T) {
	var busy sync.WaitGroup
	busy.Add(2)
	release := make(chan struct{})
	var ran atomic.Int64
	s := &stub{do: func(context.Context, string) (driver.Cost, error) {
		if ran.Add(1) <= 2 {
			busy.Done()
		}
		<-release
		return driver.Cost{Rows: 2}, nil
	}}
	schedule := scripted(func(yield func(time.Duration) bool) {
		// Releases the answers after the engine has counted the waiting arrivals.
		defer time.AfterFunc(200*time.Millisecond, func() { close(release) })
		for n := range 20 {
			if n == 2 {
				busy.Wait()
			}
			yield(time.Duration(n) * time.Microsecond)
		}
	})
	q, err := engine.QueryOpen(t.Context(), engine.OpenConfig{
		QueryConfig: engine.QueryConfig{Workers: 2}, Schedule: schedule, Queue: 3,
	}, driver.DB{Required: s}, queries(8), ignore)
	if err != nil || q.Withheld != "" {
		t.Fatal(err, q.Withheld)
	}
	o := q.Open
	if ran.Load() != 5 || q.Executed != 5 || o.Arrivals != 20 || o.Dropped != 15 || o.Waiting != 3 || o.Response.Count != 5 || o.Lag.Count != 20 {
		t.Errorf("ran %d: %+v", q.Executed, o)
	}
	if !strings.Contains(o.Saturated, " of 1,000,000/s scheduled, 15 arrivals dropped, 3 waiting at the end") {
		t.Errorf("saturation: %q", o.Saturated)
	}
	if len(q.Each) != 5 {
		t.Errorf("dropped queries have times: %v", q.Each)
	}
}

// What cannot keep the schedule is named, and why.
func TestSaturated(t *testing.T) {
	slow := func(context.Context, string) (driver.Cost, error) {
		time.Sleep(5 * time.Millisecond)
		return driver.Cost{Rows: 2}, nil
	}
	fast := func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 2}, nil }
	for name, test := range map[string]struct {
		do   func(context.Context, string) (driver.Cost, error)
		rate pace.Constant
		cfg  engine.OpenConfig
		want []string // in the text; none: not saturated
	}{
		"dropped": {slow, 2000, engine.OpenConfig{Count: 200, Queue: 10}, []string{"saturated: ", "/s done of 2,000/s scheduled, 1", " arrivals dropped, ", " waiting at the end"}},
		"waiting": {slow, 1000, engine.OpenConfig{Count: 100, Queue: 100}, []string{"/s done of 1,000/s scheduled, ", " waiting at the end"}},
		"client":  {fast, 1e9, engine.OpenConfig{Count: 200_000, Queue: 200_000}, []string{" of 1,000,000,000/s scheduled", "the client itself ", " behind the schedule"}},
		"kept":    {slow, 2, engine.OpenConfig{Count: 2, Queue: 100}, nil},
		"one":     {slow, 1000, engine.OpenConfig{Count: 1, Queue: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			test.cfg.Workers, test.cfg.Schedule = 1, test.rate
			q, err := engine.QueryOpen(t.Context(), test.cfg, driver.DB{Required: &stub{do: test.do}}, queries(10), ignore)
			if err != nil || q.Withheld != "" {
				t.Fatal(err, q.Withheld)
			}
			text := q.Open.Saturated
			if (text == "") != (test.want == nil) || slices.ContainsFunc(test.want, func(part string) bool { return !strings.Contains(text, part) }) {
				t.Errorf("%q; want %q in it", text, test.want)
			}
		})
	}
}

// An open loop without queries or arrivals ends at once.
func TestQueryOpenOfNothing(t *testing.T) {
	for _, test := range []struct {
		schedule pace.Schedule
		count    int
	}{{pace.Constant(1000), 0}, {pace.Steps{}, 3}} {
		cfg := engine.OpenConfig{QueryConfig: engine.QueryConfig{Workers: 2}, Schedule: test.schedule}
		q, err := engine.QueryOpen(t.Context(), cfg, driver.DB{Required: &stub{}}, queries(test.count), ignore)
		if err != nil || q.Executed != 0 || q.Open.Arrivals != 0 || q.Open.Saturated != "" || q.Open.Lag.Summary != (measure.Summary{}) {
			t.Errorf("%v: %+v, error %v", test.schedule, q.Open, err)
		}
	}
}

// BenchmarkQueryOpen is what the open loop adds to a query, apart from
// waiting: everything is due at once.
func BenchmarkQueryOpen(b *testing.B) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 2}, nil }}
	q := queries(1000)
	b.ReportAllocs()
	b.ResetTimer()
	out, err := engine.QueryOpen(b.Context(), engine.OpenConfig{
		QueryConfig: engine.QueryConfig{Workers: 1}, Schedule: pace.Constant(pace.MaxRate), Count: b.N, Queue: b.N,
	}, driver.DB{Required: s}, q, ignore)
	if err != nil || out.Executed != int64(b.N) {
		b.Fatal(err)
	}
}

// BenchmarkPacedQuery is what the client itself adds to the response time at
// 10,000 arrivals a second: the lag of the pacer and the way to a worker.
func BenchmarkPacedQuery(b *testing.B) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 2}, nil }}
	out, err := engine.QueryOpen(b.Context(), engine.OpenConfig{
		QueryConfig: engine.QueryConfig{Workers: 4}, Schedule: pace.Constant(10_000), Count: b.N, Queue: b.N,
	}, driver.DB{Required: s}, queries(1000), ignore)
	if err != nil || out.Executed != int64(b.N) {
		b.Fatal(err)
	}
	b.ReportMetric(0, "ns/op") // it is the schedule's
	for name, l := range map[string]measure.Summary{"lag": out.Open.Lag.Summary, "response": out.Open.Response.Summary} {
		b.ReportMetric(l.Median*1e6, name+"-p50-µs")
		b.ReportMetric(l.P90*1e6, name+"-p90-µs")
		b.ReportMetric(l.P99*1e6, name+"-p99-µs")
	}
}
