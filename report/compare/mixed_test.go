package compare

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// mixedSystem draws runs with a mixed phase each, slower by a factor.
func mixedSystem(seed uint64, repeats int, slower float64) Side {
	r := rand.New(rand.NewPCG(seed, 2))
	around := func(v float64) float64 { return v * slower * (1 + 0.005*r.NormFloat64()) }
	var s Side
	for i := range repeats {
		mixedType := func(name string, median float64) result.MixedType {
			return result.MixedType{Type: name, Executed: 110, Verdict: result.Verdict{Checked: 10, Rows: 10},
				Service: result.Latency{Summary: measure.Summary{Count: 100, Median: around(median), P99: around(3 * median)}}}
		}
		t := newTarget("duck", "duckdb")
		t.Repeats[0].Load = &result.Load{Rows: 1e6, Settled: 2, Mixed: &result.Mixed{
			Writes: result.Load{Rows: 1e6, Acked: around(1)}, Types: []result.MixedType{mixedType("first", 0.001), mixedType("second", 0.01)},
		}}
		s.Runs = append(s.Runs, run(string(rune('a'+i))+"-"+string(rune('0'+seed)), t))
	}
	return s
}

// Mixed phases are compared load by load, and conditions can name their
// figures.
func TestMixed(t *testing.T) {
	c := mustCompare(t, mixedSystem(1, 6, 1), mixedSystem(2, 6, 1.1))
	target := &c.Targets[0]
	for _, want := range []struct {
		subject string
		metric  Metric
		verdict Verdict
	}{{"first", MixedMedian, Slower}, {"second", MixedP99, Slower}, {MixedSubject, MixedLoad, Slower}, {LoadSubject, Load, NoDifference}} {
		if f := target.figure(want.subject, want.metric); f.Verdict != want.verdict || f.Method != AcrossRepeats {
			t.Errorf("%s %s: %s %s (%v)", want.subject, want.metric, f.Verdict, f.Why, f.Ratio)
		}
	}
	conditions, err := ParseConditions("mixed-p99 > +5%, mixed-load < -5%, mixed-median > +20%")
	if err != nil {
		t.Fatal(err)
	}
	if holds, open, _ := c.Check(conditions); len(holds) != 3 || len(open) != 0 {
		t.Errorf("%d hold, %d open: %v %v", len(holds), len(open), holds, open)
	}
	// A side that missed its rates has no times that can be compared.
	saturated := mixedSystem(2, 6, 1.1)
	saturated.Runs[5].Targets[0].Repeats[0].Load.Mixed.Saturated = "saturated: 5/s done of 20/s scheduled"
	if f := mustCompare(t, mixedSystem(1, 6, 1), saturated).Targets[0].figure("first", MixedMedian); f.Verdict != NotCompared || !strings.Contains(f.Why, "saturated: 5/s done") {
		t.Errorf("a saturated side: %s %s", f.Verdict, f.Why)
	}
	once := mustCompare(t, mixedSystem(1, 1, 1), mixedSystem(2, 1, 2))
	if f := once.Targets[0].figure("first", MixedMedian); f.Verdict != NoVerdict {
		t.Errorf("one phase a side: %s", f.Verdict)
	}
	if _, open, _ := once.Check(conditions); len(open) != 5 || open[0].Lacks() != LacksLoads {
		t.Errorf("one phase a side: %v lacks no loads", open)
	}
	if mustCompare(t, system(1, 6, 1), system(2, 6, 1)).Targets[0].figure(MixedSubject, MixedLoad).Metric != "" {
		t.Error("loads without such a phase have figures of one")
	}
}

// A type without a figure says why, and cut-off queries make it a bound.
func TestMixedMissing(t *testing.T) {
	for want, change := range map[string]func(*result.Load){
		"B: withheld: wrong":              func(l *result.Load) { l.Mixed.Types[0].Withheld = "wrong" },
		"B: n/a: no joins":                func(l *result.Load) { l.Mixed.Types[0].Unsupported = "no joins" },
		"B: not verified":                 func(l *result.Load) { l.Mixed.Types[0].Verdict = result.Verdict{} },
		"B: too few queries run":          func(l *result.Load) { l.Mixed.Types[0].Service = result.Latency{} },
		"B: not run":                      func(l *result.Load) { l.Mixed.Types = l.Mixed.Types[1:] },
		"B: " + noMixed:                   func(l *result.Load) { l.Mixed = nil },
		"B: withheld: the census differs": func(l *result.Load) { l.Withheld = "the census differs" },
	} {
		b := mixedSystem(2, 6, 1)
		change(b.Runs[3].Targets[0].Repeats[0].Load)
		if f := mustCompare(t, mixedSystem(1, 6, 1), b).Targets[0].figure("first", MixedMedian); f.Verdict != NotCompared || f.Why != want {
			t.Errorf("%s: %s; want %s", f.Verdict, f.Why, want)
		}
	}
	b := mixedSystem(2, 6, 2)
	for _, r := range b.Runs {
		r.Targets[0].Repeats[0].Load.Mixed.Types[0].AtLeast = 1
	}
	if f := mustCompare(t, mixedSystem(1, 6, 1), b).Targets[0].figure("first", MixedP99); f.Verdict != Slower || f.Ratio.Bound != stats.AtLeast || !strings.HasPrefix(f.B.Median.String(), "≥") {
		t.Errorf("cut off: %s, %v, %v", f.Verdict, f.Ratio, f.B.Median)
	}
}

// Phases at other rates are not compared: each target then answered beside other work. Loads are.
func TestMixedRates(t *testing.T) {
	at := func(seed uint64, rows string) Side {
		s := mixedSystem(seed, 6, 1)
		for _, r := range s.Runs {
			r.Targets[0].Repeats[0].Load.Mixed.RowRate = rows
		}
		return s
	}
	if found := mustCompare(t, at(1, "1000/s"), at(2, "1000/s")).Targets[0]; found.figure("first", MixedMedian).Cause == DifferentTerms || found.MixedByResponse() {
		t.Errorf("equal rates: %+v", found.Terms)
	}
	found := mustCompare(t, at(1, "1000/s"), at(2, "9000/s")).Targets[0]
	for _, m := range []Metric{MixedMedian, MixedP99} {
		if f := found.figure("first", m); f.Cause != DifferentTerms || !strings.Contains(f.Why, "mixed phase: rows 1000/s, queries without a rate (A), rows 9000/s, queries without a rate (B)") {
			t.Errorf("%s: %s, %s", m, f.Cause, f.Why)
		}
	}
	if f := found.figure(LoadSubject, Load); f.Cause == DifferentTerms {
		t.Errorf("the load: %s", f.Why)
	}
}
