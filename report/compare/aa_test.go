package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/result"
)

// bench simulates runs of targets as the runner makes them: in each of six
// rounds all run the same block of queries, which no other round runs,
// and all are loaded six times. Latencies are lognormal around a query's
// cost, correlated with their neighbours (an AR(1) series), slower at first, now and
// then much slower; a round is as a whole faster or slower, for each target by
// itself and for all together.
type bench struct {
	r *rand.Rand
	// Standard deviations of logarithms: of the queries of a type, of a latency
	// around its query's, of a target's round, of the part that both targets share in a
	// round, of a load.
	difficulty, noise, round, machine, load float64
	blocks                                  []int // queries in a block, by type
}

// newBench has 16 types: ten are fast enough for 60 queries a block and three
// for 20; of the last three, five queries were finished.
func newBench(seed uint64) *bench {
	return &bench{
		r: rand.New(rand.NewPCG(seed, 7)), difficulty: 0.15, noise: 0.1, round: 0.02, machine: 0.03, load: 0.05,
		blocks: slices.Concat(slices.Repeat([]int{60}, 10), slices.Repeat([]int{20}, 3), slices.Repeat([]int{5}, 3)),
	}
}

// run simulates a run of targets 0, 1 and so on; slower returns the share by which target
// 1 is slower in a type, or in the load for -1.
func (b *bench) run(id, targets int, slower func(queryType int) float64) *result.Run {
	const rounds = 6
	out := run(fmt.Sprint("run ", id))
	for i := range targets {
		out.Targets = append(out.Targets, result.Target{Name: fmt.Sprint(i), Driver: "stub"})
	}
	for n := range rounds {
		for i := range out.Targets {
			factor := 1.0
			if i == 1 {
				factor = slower(-1)
			}
			seconds := 2 * factor * math.Exp(b.load*b.r.NormFloat64())
			out.Targets[i].RepeatOf(n + 1).Load = &result.Load{Rows: 1e6, Sent: 0.9 * seconds, Acked: 0.95 * seconds, Settled: seconds, DiskBytes: int64(1e7 * math.Exp(0.01*b.r.NormFloat64()))}
		}
		machine := b.machine * b.r.NormFloat64()
		for kind, block := range b.blocks {
			cost := make([]float64, block)
			for i := range cost {
				cost[i] = math.Log(0.001*float64(kind+1)) + b.difficulty*b.r.NormFloat64()
			}
			for i := range out.Targets {
				q := queries(fmt.Sprint("type ", kind), b.latencies(cost, machine)...)
				q.First = n * block
				if i == 1 {
					for j := range q.Each {
						q.Each[j] *= slower(kind)
					}
				}
				repeat := out.Targets[i].RepeatOf(n + 1)
				repeat.Queries = append(repeat.Queries, q)
			}
		}
	}
	return out
}

// latencies of a block of queries in a target's round.
func (b *bench) latencies(cost []float64, machine float64) []float64 {
	const alike = 0.5
	level, last := machine+b.round*b.r.NormFloat64(), b.r.NormFloat64()
	each := make([]float64, len(cost))
	for i, c := range cost {
		last = alike*last + math.Sqrt(1-alike*alike)*b.r.NormFloat64()
		log := c + level + b.noise*last + 0.7*math.Exp(-float64(i)) // the first twice as slow
		if b.r.IntN(100) == 0 {
			log += 1.5
		}
		each[i] = math.Exp(log)
	}
	return each
}

// figures compares two targets of a run.
func figures(t *testing.T, r *result.Run, a, b int) []Figure {
	return mustCompare(t, Side{[]*result.Run{r}, fmt.Sprint(a)}, Side{[]*result.Run{r}, fmt.Sprint(b)}).Targets[0].Figures
}

func shownAmong(figures []Figure, metrics ...Metric) bool {
	return slices.ContainsFunc(figures, func(f Figure) bool { return slices.Contains(metrics, f.Metric) && f.Significant() })
}

// A target is compared with itself: in at most 5 % of the runs any of the
// headline figures of 16 types and of the loads shows a difference.
func TestNoVerdictByChance(t *testing.T) {
	slowtest.Skip(t)
	const runs = 200
	b := newBench(1)
	any, loads, medians := 0, 0, 0
	for id := range runs {
		both := figures(t, b.run(id, 2, equalSpeed), 0, 1)
		for i := range both {
			if f := &both[i]; f.Method != AcrossRepeats || f.Metric == Median && !f.Decidable() {
				t.Fatalf("%s %s of family %d could never be shown: %s", f.Subject, f.Metric, f.Family, f.Why)
			}
		}
		count := func(n *int, metrics ...Metric) {
			if shownAmong(both, metrics...) {
				*n++
			}
		}
		count(&any, headline()...)
		count(&loads, Load, Acked, Sent, Disk)
		count(&medians, Median, GeoMean)
	}
	t.Logf("of %d runs of a target against itself %d show a difference: %d in queries, %d in loads", runs, any, medians, loads)
	if any > runs/20 {
		t.Errorf("%d of %d runs of a target against itself show a difference, want 5 %% at most", any, runs)
	}
}

func equalSpeed(int) float64 { return 1 }

// Five targets that are alike have ten pairs, each corrected by itself. Their
// common variation in a round makes the test careful enough for all of them.
func TestNoVerdictByChanceAmongFive(t *testing.T) {
	slowtest.Skip(t)
	const runs, targets = 40, 5
	b, any := newBench(5), 0
	for id := range runs {
		r, found := b.run(id, targets, equalSpeed), false
		for i := range targets {
			for j := range i {
				found = found || shownAmong(figures(t, r, i, j), headline()...)
			}
		}
		if found {
			any++
		}
	}
	t.Logf("of %d runs of five targets that are alike %d show any difference", runs, any)
	if any > runs/20 {
		t.Errorf("of %d runs of five targets that are alike %d show any difference, want 5 %% at most", runs, any)
	}
}

// A type that really is 20 % slower is mostly found among 16 if blocks are
// long, and so are a slower load, and all types together; nearly always with
// the right direction. Types with five queries a block rarely show a difference,
// in line with their wide intervals.
func TestPower(t *testing.T) {
	slowtest.Skip(t)
	const runs = 40
	for _, c := range []struct {
		name    string
		slower  int // the type; -1: the load, -2: all types
		subject string
		metric  Metric
		least   int // of the runs
	}{
		{"60 queries a block", 0, "type 0", Median, 28},
		{"20 queries a block", 10, "type 10", Median, 12},
		{"5 queries a block", 15, "type 15", Median, 0},
		{"load", -1, LoadSubject, Load, 32},
		{"all types", -2, AllTypes, GeoMean, 36},
	} {
		b := newBench(2)
		found, wrong := 0, 0
		for id := range runs {
			both := figures(t, b.run(id, 2, func(kind int) float64 {
				if kind == c.slower || c.slower == -2 && kind >= 0 {
					return 1.2
				}
				return 1
			}), 0, 1)
			f := both[slices.IndexFunc(both, func(f Figure) bool { return f.Subject == c.subject && f.Metric == c.metric })]
			switch f.Verdict {
			case Slower:
				found++
			case Faster:
				wrong++
			}
		}
		t.Logf("20 %% slower, %s: found in %d of %d runs", c.name, found, runs)
		if found < c.least || wrong > 1 {
			t.Errorf("20 %% slower, %s: found in %d of %d runs, and the other way round in %d", c.name, found, runs, wrong)
		}
	}
}
