package estimate

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// queriesFrom returns a verified type whose round ran queries from a place on.
func queriesFrom(first int, each ...float64) result.Queries {
	return result.Queries{Type: "q", Verdict: result.Verdict{Checked: 10, Rows: 10}, First: first, Each: each,
		Service: result.Latency{Summary: measure.Summary{Count: int64(len(each))}}}
}

func target(name string, rounds ...result.Queries) result.Target {
	t := result.Target{Name: name}
	for i, q := range rounds {
		t.Repeats = append(t.Repeats, result.Repeat{Number: i + 1, Queries: []result.Queries{q}})
	}
	return t
}

func run(targets ...result.Target) *result.Run { return &result.Run{Targets: targets} }

// Only queries that every verified target got to in a round take part, by their
// places, whatever each round began with.
func TestCommonQueries(t *testing.T) {
	a := target("a", queriesFrom(0, 1, 2, 3, 4, 5), queriesFrom(10, 6, 0, 8, -9))
	b := target("b", queriesFrom(0, 11, 12, 13), queriesFrom(12, 14, 15, 16))
	for name, c := range map[string]struct {
		beside result.Target
		want   Sample
	}{
		"both":             {b, Sample{{[]int{0, 1, 2}, []float64{1, 2, 3}}, {[]int{12, 13}, []float64{8, -9}}}},
		"a round less":     {target("b", queriesFrom(0, 11, 12)), Sample{{[]int{0, 1}, []float64{1, 2}}}},
		"nothing":          {target("b", queriesFrom(7, 11), queriesFrom(11, 12)), nil},
		"nobody else":      {result.Target{Name: "b"}, Sample{{[]int{0, 1, 2, 3, 4}, []float64{1, 2, 3, 4, 5}}, {[]int{10, 12, 13}, []float64{6, 8, -9}}}},
		"one not verified": {target("b", queriesFrom(0, 1), result.Queries{Type: "q", Withheld: "wrong"}), Sample{{[]int{0, 1, 2, 3, 4}, []float64{1, 2, 3, 4, 5}}, {[]int{10, 12, 13}, []float64{6, 8, -9}}}},
	} {
		r := run(a, c.beside)
		if got := CommonSample(r, &r.Targets[0], "q"); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// A target that failed does not restrict the others, and is compared as far
	// as it got.
	failed := target("b", queriesFrom(0, 11, 12))
	failed.Failure = "gone"
	r := run(a, failed)
	if got := CommonSample(r, &r.Targets[0], "q"); got.Queries() != 8 || len(got) != 2 {
		t.Errorf("beside one that failed: %v", got)
	}
	if got := CommonSample(r, &r.Targets[1], "q"); got.Queries() != 2 || len(got) != 1 {
		t.Errorf("one that failed: %v", got)
	}
	// A target that is not verified has figures over its own queries.
	unverified := queriesFrom(0, 5, 6)
	unverified.Verdict = result.Verdict{}
	r = run(a, target("b", unverified))
	if got := CommonSample(r, &r.Targets[1], "q"); got.Queries() != 2 {
		t.Errorf("not verified: %v", got)
	}
}

// Runs with blocks of other sizes are set against each other over the
// places that both have; those of one run stay as they are.
func TestAlign(t *testing.T) {
	small := Sample{{[]int{0, 1}, []float64{1, 2}}, {[]int{2, 3}, []float64{3, 4}}, {[]int{4, 5}, []float64{5, 6}}}
	large := Sample{{[]int{0, 1, 2}, []float64{10, 20, 30}}, {[]int{3, 4, 9}, []float64{40, 50, 90}}}
	got := Align(small, large)
	want := []Sample{
		{{[]int{0, 1}, []float64{1, 2}}, {[]int{2, 3}, []float64{3, 4}}, {[]int{4}, []float64{5}}},
		{{[]int{0, 1, 2}, []float64{10, 20, 30}}, {[]int{3, 4}, []float64{40, 50}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if again := Align(got...); !reflect.DeepEqual(again, got) {
		t.Errorf("aligned twice: %v", again)
	}
	if apart := Align(small, Sample{{[]int{7}, []float64{1}}}); len(apart[0]) != 0 || len(apart[1]) != 0 {
		t.Errorf("nothing in common: %v", apart)
	}
	// The same queries in each round.
	same := Sample{{[]int{0, 1}, []float64{1, 2}}, {[]int{0}, []float64{3}}}
	if got := Align(same, same); !reflect.DeepEqual(got, []Sample{same, same}) || same.Queries() != 2 || same.Shortest() != 1 {
		t.Errorf("run again: %v", got)
	}
}

// The estimate is the median of the rounds' medians, with their interval; of one
// round it is that of its queries. It always lies within its interval.
func TestMedian(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var s Sample
		for range 1 + random.IntN(8) {
			var round Round
			for i := range 1 + random.IntN(60) {
				round.Places, round.Times = append(round.Places, i), append(round.Times, math.Exp(random.NormFloat64()))
			}
			s = append(s, round)
		}
		e := s.Median()
		want := stats.Median(s.Medians())
		if e.Median.Figure != want {
			t.Fatalf("%d rounds: %v, want %v", len(s), e.Median, want)
		}
		if in := e.Interval; in != nil && (in.Lo.Figure > e.Median.Figure || in.Hi.Figure < e.Median.Figure) {
			t.Fatalf("%v lies outside %v to %v", e.Median, in.Lo, in.Hi)
		}
		if len(s) > 1 && e.Interval == nil {
			t.Fatalf("%d rounds without an interval", len(s))
		}
	}
	// A run that recorded no single queries.
	old := result.Queries{Type: "q", Verdict: result.Verdict{Checked: 1, Rows: 1}, Service: result.Latency{Summary: measure.Summary{Count: 9, Median: 3}}}
	r := run(target("a", old))
	if e := Median(r, &r.Targets[0], &old); e.Median != (stats.Value{Figure: 3}) || e.Interval != nil {
		t.Errorf("of an early version: %+v", e)
	}
	old.AtLeast = 1
	if e := Median(r, &r.Targets[0], &old); e.Median != (stats.Value{Figure: 3, Bound: stats.AtLeast}) {
		t.Errorf("cut off: %+v", e)
	}
}

// Loads count if all of a target's stand.
func TestLoads(t *testing.T) {
	loaded := func(settled ...float64) *result.Target {
		t := &result.Target{}
		for i, seconds := range settled {
			t.RepeatOf(i + 1).Load = &result.Load{Rows: 100, Settled: seconds, DiskBytes: int64(10 * seconds)}
		}
		return t
	}
	three := loaded(1, 4, 2)
	if got := Loads(three, SettledRate); !slices.Equal(got, []float64{100, 25, 50}) || Load(three, SettledRate).Median.Figure != 50 || Load(three, Disk).Median.Figure != 20 {
		t.Errorf("%v", got)
	}
	for what, change := range map[string]func(*result.Load){
		"withheld":      func(l *result.Load) { l.Withheld = "wrong values" },
		"not verified":  func(l *result.Load) { l.Unverified = "nobody counted" },
		"never settled": func(l *result.Load) { l.Settled = 0 },
	} {
		one := loaded(1, 4, 2)
		change(one.Repeats[1].Load)
		if got := Load(one, SettledRate); got.N != 0 {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if Load(three, AckedRate).N != 0 {
		t.Error("a protocol that does not acknowledge has a rate")
	}
	if Load(&result.Target{Load: &result.Load{Rows: 8, Settled: 2}}, SettledRate).Median.Figure != 4 {
		t.Error("a target without repeats has no load")
	}
}

// A type of many queries on two targets.
func BenchmarkCommonSample(b *testing.B) {
	each := slices.Repeat([]float64{0.001}, 100_000)
	r := run(target("a", queriesFrom(0, each...)), target("b", queriesFrom(0, each...)))
	b.ReportAllocs()
	for b.Loop() {
		CommonSample(r, &r.Targets[0], "q")
	}
}

// The memory of a series is what a server that tsmark started, without data, gained from the beginning of its first load
// to the end of its mixed phase.
func TestMemoryPerSeries(t *testing.T) {
	watched := result.Resources{Source: result.ServerSource("x"), Period: 1}
	for at := range 20 {
		watched.Add(float64(at), map[result.Metric]float64{result.RSS: float64(1000 + 100*at)})
	}
	for what, c := range map[string]struct {
		change     func(*result.Target)
		want, most float64
	}{
		"a load":            {func(*result.Target) {}, 10, 1700},
		"a mixed phase":     {func(t *result.Target) { t.Load.Mixed = &result.Mixed{Writes: result.Load{Cell: result.Cell{To: 12}}} }, 20, 2200},
		"another's server":  {func(t *result.Target) { t.Idle = "" }, 0, 1700},
		"tsmark's process":  {func(t *result.Target) { t.Embedded = true }, 0, 0},
		"withheld":          {func(t *result.Target) { t.Load.Withheld = "lost rows" }, 0, 0},
		"not an empty one":  {func(t *result.Target) { t.Load.DiskBefore = 10 }, 0, 1700},
		"nobody watched it": {func(t *result.Target) { t.Name = "y" }, 0, 0},
	} {
		target := result.Target{Name: "x", Idle: "pause", Load: &result.Load{Rows: 1, Settled: 5, DiskBytes: 100, DiskBefore: 5, Cell: result.Cell{From: 2, To: 7}}}
		c.change(&target)
		r := &result.Run{Dataset: result.Dataset{Series: 50}, Resources: []result.Resources{watched}}
		known := func(v result.Value) float64 {
			if !v.IsKnown() {
				return 0
			}
			return float64(v)
		}
		if got, most := known(MemoryPerSeries(r, &target)), known(MostMemory(r, &target)); got != c.want || most != c.most {
			t.Errorf("%s: %g a series of %g, want %g of %g", what, got, most, c.want, c.most)
		}
	}
}

// Memory grows from the first third of a measurement to its last; readings in between
// or outside do not matter. A third with too few readings is not used.
func TestGrowth(t *testing.T) {
	watched := &result.Resources{Source: "server x", Period: 1}
	for at := range 40 {
		rss := 100.0
		switch {
		case at < 10 || at > 30:
			rss = 1e6
		case at > 16 && at < 24:
			rss = 5
		case at >= 24:
			rss = 150
		}
		watched.Add(float64(at), map[result.Metric]float64{result.RSS: rss})
	}
	for _, c := range []struct {
		from, to, want float64
	}{{10, 30, 1.5}, {10, 15, 0}, {25, 29.5, 0}, {17, 23, 1}, {50, 90, 0}} {
		got := GaugeGrowth([]*result.Resources{watched}, &result.Cell{From: c.from, To: c.to}, result.RSS)
		if !got.IsKnown() {
			got = 0
		}
		if float64(got) != c.want {
			t.Errorf("from %g to %g: %g, want %g", c.from, c.to, got, c.want)
		}
	}
	if got := GaugeGrowth(nil, &result.Cell{From: 10, To: 30}, result.RSS); got.IsKnown() {
		t.Errorf("nobody watched: %g", got)
	}
}
