package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/engine/rate"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

func TestParseObjective(t *testing.T) {
	s := measure.Summary{Count: 1000, Median: 1, P90: 2, P95: 3, P99: 4, P999: 5, Mean: 6, Max: 7}
	for name, want := range map[string]float64{"p50": 1, "p90": 2, "p95": 3, "p99": 4, "p999": 5, "mean": 6, "max": 7} {
		o, err := rate.Parse(name + "<10ms")
		if err != nil || o != (rate.Objective{Statistic: name, Below: 10 * time.Millisecond}) || o.String() != name+"<10ms" {
			t.Errorf("%s: %v, error %v", name, o, err)
		}
		o.Below = time.Duration(want * 1e9)
		if missed := o.MissedBy(s); !strings.HasPrefix(missed, name+" of the response time is ") {
			t.Errorf("%v is missed by %+v: %q", o, s, missed)
		}
		o.Below++
		if missed := o.MissedBy(s); missed != "" || o.MissedBy(measure.Summary{}) == "" {
			t.Errorf("%v is kept by %+v, and not by nothing: %q", o, s, missed)
		}
	}
	if o, err := rate.Parse(" p99 < 1.5s "); err != nil || o.String() != "p99<1.5s" {
		t.Errorf("with spaces: %v, error %v", o, err)
	}
	const name, bound = "want p50, p90, p95, p99, p999, mean or max, < and a time, such as p99<10ms", "want a time above 0 with its unit behind the <, such as p99<10ms"
	for text, want := range map[string]string{
		"": name, "p99": name, "p98<1s": name, "<1s": name, "p99>1s": name,
		"p99<": bound, "p99<10": bound, "p99<0s": bound, "p99<-1s": bound, "p99<=1s": bound,
	} {
		if _, err := rate.Parse(text); err == nil || err.Error() != `objective "`+text+`": `+want {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// So few answers do not tell a percentile: it is said, and not taken as kept.
func TestObjectiveNeedsAnswers(t *testing.T) {
	for name, least := range map[string]int64{"p50": 1, "p90": 10, "p95": 20, "p99": 100, "p999": 1000, "mean": 1, "max": 1} {
		o, l := rate.Objective{Statistic: name, Below: time.Hour}, measure.NewLatency()
		for range least - 1 {
			l.Record(time.Millisecond)
		}
		want := fmt.Sprintf("%s needs at least %d answers, and %d count", name, least, least-1)
		if least == 1 {
			want = "nothing was answered"
		}
		if missed := o.MissedBy(l.Summary()); !strings.HasPrefix(missed, want) || o.MinimumCount() != least {
			t.Errorf("%v of %d answers: %q", o, least-1, missed)
		}
		if l.Record(time.Millisecond); o.MissedBy(l.Summary()) != "" {
			t.Errorf("%v of %d answers: %q", o, least, o.MissedBy(l.Summary()))
		}
	}
}

// A try in which too few queries would come for the percentile becomes longer; where that is not
// enough the search ends at the try and says why.
func TestFindMaxRateNeedsAnswers(t *testing.T) {
	keep := rate.Objective{Statistic: "p90", Below: time.Second}
	find := func(box time.Duration, count int) *result.RateSearch {
		cfg := engine.OpenConfig{QueryConfig: engine.QueryConfig{TimeBox: box}, Count: count}
		q, err := engine.FindMaxRateBy(t.Context(), cfg, rate.Search{From: 100, To: 100}, keep, func(_ context.Context, cfg engine.OpenConfig) (*result.Queries, error) {
			open := &result.OpenLoop{}
			for due := range cfg.Schedule.Arrivals() { // each is answered at once
				if cfg.TimeBox > 0 && due >= cfg.TimeBox || cfg.Count > 0 && open.Response.Count == int64(cfg.Count) {
					break
				}
				open.Response.Count++
			}
			return &result.Queries{Open: open}, nil
		})
		if err != nil || q.Withheld != "" {
			t.Fatal(err, q.Withheld)
		}
		return q.Open.Search
	}
	for name, found := range map[string]*result.RateSearch{"no query in the time box": find(time.Millisecond, 0), "count": find(0, 9)} {
		if found.Kept != 100 || len(found.Tries) != 1 {
			t.Errorf("%s, which is extended: %+v", name, found)
		}
	}
	keep.Statistic = "p99"
	if found := find(0, 9); found.Kept != 0 || found.Failed != 0 || len(found.Tries) != 1 || !strings.HasPrefix(found.Tries[0].Failed, "p99 needs at least 100 answers, and 90 count") {
		t.Errorf("ten times the count is not enough: %+v", found)
	}
}

// Queries during which the client was paused do not count: the schedule has more arrivals than the
// percentile needs, and if too few of them count the try is extended. The search ends only at a
// minute, or at ten times a longer time box.
func TestFindMaxRateWhereQueriesDoNotCount(t *testing.T) {
	keep := rate.Objective{Statistic: "p99", Below: time.Second}
	for name, test := range map[string]struct {
		counts []int64 // answers that count, of each run
		boxes  []time.Duration
		kept   float64
		failed string
	}{
		"all count":        {[]int64{100}, []time.Duration{1250 * time.Millisecond}, 100, ""},
		"too few at first": {[]int64{99, 100}, []time.Duration{1250 * time.Millisecond, 2500 * time.Millisecond}, 100, ""},
		"always too few": {[]int64{1, 2, 3, 4, 5, 6, 7}, []time.Duration{1250 * time.Millisecond, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute}, 0,
			"p99 needs at least 100 answers, and 7 count: allow a longer time box (--time-box) or more queries (--queries)"},
	} {
		t.Run(name, func(t *testing.T) {
			var boxes []time.Duration
			cfg := engine.OpenConfig{QueryConfig: engine.QueryConfig{TimeBox: 500 * time.Millisecond}}
			q, err := engine.FindMaxRateBy(t.Context(), cfg, rate.Search{To: 100}, keep, func(_ context.Context, cfg engine.OpenConfig) (*result.Queries, error) {
				open := &result.OpenLoop{}
				open.Response.Count = test.counts[len(boxes)]
				boxes = append(boxes, cfg.TimeBox)
				return &result.Queries{Open: open}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			found := q.Open.Search
			if len(found.Tries) != 1 || found.Tries[0].Failed != test.failed || found.Kept != test.kept || !slices.Equal(boxes, test.boxes[:len(boxes)]) {
				t.Errorf("%+v after %v", found, boxes)
			}
		})
	}
}

func FuzzParseObjective(f *testing.F) {
	f.Add("p99<10ms")
	f.Add("mean < 1h")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := rate.Parse(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		if again, err := rate.Parse(o.String()); err != nil || again != o {
			t.Errorf("%q is printed as %q, which is %v, error %v", text, o, again, err)
		}
	})
}

// Whatever a server can do, the search brackets it as closely as wanted.
func TestSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		capacity := math.Exp(random.Float64()*20 - 4) // 0.02/s to 9,000,000/s
		s := rate.Search{Precision: 0.01 + random.Float64()/5, Tries: 40}
		found, err := s.Find(t.Context(), func(_ context.Context, rate float64) (string, error) {
			if rate > capacity {
				return "too much", nil
			}
			return "", nil
		})
		if err != nil || found.Kept > capacity || found.Failed <= capacity || found.Failed/found.Kept-1 > s.Precision {
			t.Fatalf("capacity %v: %+v, error %v", capacity, found, err)
		}
	}
}

func TestSearchEnds(t *testing.T) {
	keeps := func(context.Context, float64) (string, error) { return "", nil }
	fails := func(context.Context, float64) (string, error) { return "slow", nil }
	gone := errors.New("gone")
	third := 0
	for name, test := range map[string]struct {
		search              rate.Search
		try                 func(context.Context, float64) (string, error)
		kept, failed, tries float64
		err                 error
	}{
		"at the limit":     {rate.Search{To: 500}, keeps, 500, 0, 4, nil},
		"from the limit":   {rate.Search{From: 800, To: 500}, keeps, 500, 0, 1, nil},
		"with the tries":   {rate.Search{From: 1, Tries: 5}, keeps, 16, 0, 5, nil},
		"with nothing":     {rate.Search{From: 1, Tries: 5}, fails, 0, 1. / 16, 5, nil},
		"at the slowest":   {rate.Search{From: pace.MinRate * 2}, fails, 0, pace.MinRate, 2, nil},
		"with four digits": {rate.Search{From: 1, Precision: 1e-9, Tries: 100}, serverWithCapacity(1.5), 1.5, 1.501, 12, nil},
		"with an error": {rate.Search{From: 1}, func(context.Context, float64) (string, error) {
			if third++; third == 3 {
				return "", gone
			}
			return "", nil
		}, 2, 0, 2, gone},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := test.search.Find(t.Context(), test.try)
			if !errors.Is(err, test.err) || found.Kept != test.kept || found.Failed != test.failed || len(found.Tries) != int(test.tries) {
				t.Errorf("%+v, error %v", found, err)
			}
		})
	}
}

// serverWithCapacity is a server that keeps rates up to a capacity.
func serverWithCapacity(capacity float64) func(context.Context, float64) (string, error) {
	return func(_ context.Context, rate float64) (string, error) {
		if rate > capacity {
			return "slow", nil
		}
		return "", nil
	}
}

// A server that takes 1 ms for each query, one after the other, with arrivals
// that know nothing of each other, is an M/D/1 queue: by Pollaczek and
// Khinchine its mean response time at load ρ is 1 ms · (1 + ρ/(2(1-ρ))), which
// is 3 ms at ρ = 0.8.
func TestSearchFindsCapacityOfQueue(t *testing.T) {
	const takes = time.Millisecond
	keep, err := rate.Parse("mean<3ms")
	if err != nil {
		t.Fatal(err)
	}
	found, err := rate.Search{Precision: 0.01}.Find(t.Context(), func(_ context.Context, rate float64) (string, error) {
		response := measure.NewLatency()
		var free time.Duration
		for due := range (pace.Poisson{Rate: rate, Seed: 1}).Arrivals() {
			free = max(free, due) + takes
			if response.Record(free - due); response.Count() == 300_000 {
				break
			}
		}
		return keep.MissedBy(response.Summary()), nil
	})
	if err != nil || found.Kept < 780 || found.Kept > 820 || found.Failed/found.Kept-1 > 0.01 {
		t.Errorf("%+v, error %v; want 800/s", found, err)
	}
}

// A target that answers one query at a time, 4 ms each, keeps less than 250/s.
func TestFindMaxRate(t *testing.T) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) {
		time.Sleep(4 * time.Millisecond)
		return driver.Cost{Rows: 2}, nil
	}}
	cfg := engine.OpenConfig{QueryConfig: engine.QueryConfig{Workers: 1, TimeBox: 300 * time.Millisecond}, Queue: 100}
	keep := rate.Objective{Statistic: "p50", Below: 50 * time.Millisecond}
	q, err := engine.FindMaxRate(t.Context(), cfg, rate.Search{From: 25, Precision: 0.5}, keep, driver.DB{Required: s}, queries(10), ignore)
	if err != nil || q.Withheld != "" {
		t.Fatal(err, q.Withheld)
	}
	found := q.Open.Search
	if found.Objective != "p50<50ms" || found.Kept < 6 || found.Kept > 300 || found.Failed <= found.Kept || found.Failed/found.Kept-1 > 0.5 {
		t.Errorf("found %+v", found)
	}
	if q.Open.Schedule != pace.Constant(found.Kept).String() || q.Open.Saturated != "" || keep.MissedBy(q.Open.Response.Summary) != "" {
		t.Errorf("the figures are not those of the rate that was kept: %+v", q.Open)
	}
	for _, try := range found.Tries {
		if (try.Failed == "") != (try.Rate <= found.Kept) {
			t.Errorf("%+v beside %+v", try, found)
		}
	}
}

// Cut off queries fail a rate, a wrong answer ends the search, and so does a
// target that is gone. A single query has no offered rate, so that no stall of
// the machine saturates it.
func TestFindMaxRateFails(t *testing.T) {
	cfg := engine.OpenConfig{QueryConfig: engine.QueryConfig{Workers: 4, Timeout: time.Millisecond}, Count: 1, Queue: 1}
	keep := rate.Objective{Statistic: "max", Below: time.Hour}
	for name, test := range map[string]struct {
		do       func(context.Context) (driver.Cost, error)
		failed   string // the first try
		tries    int
		withheld string
		err      error
	}{
		"cut off": {func(ctx context.Context) (driver.Cost, error) { <-ctx.Done(); return driver.Cost{}, ctx.Err() }, "1 query was cut off", 2, "", nil},
		"wrong":   {func(context.Context) (driver.Cost, error) { return driver.Cost{Rows: 1}, nil }, "", 0, "1 rows in the answer, 2 expected", nil},
		"gone":    {func(context.Context) (driver.Cost, error) { return driver.Cost{}, driver.ErrUnreachable }, "", 0, "", driver.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stub{gone: test.err, do: func(ctx context.Context, _ string) (driver.Cost, error) { return test.do(ctx) }}
			q, err := engine.FindMaxRate(t.Context(), cfg, rate.Search{From: 20, Tries: 2}, keep, driver.DB{Required: s}, queries(3), ignore)
			if !errors.Is(err, test.err) || !strings.HasSuffix(q.Withheld, test.withheld) || (q.Withheld == "") != (test.withheld == "") {
				t.Fatalf("withheld %q, error %v", q.Withheld, err)
			}
			found := q.Open.Search
			if len(found.Tries) != test.tries || found.Kept != 0 || test.tries > 0 && found.Tries[0].Failed != test.failed {
				t.Errorf("found %+v", found)
			}
		})
	}
}
