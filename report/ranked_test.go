package report_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// The fastest target has a wrong answer in one type: it wins nothing in any output, and
// each says whose answers were wrong, and in which type.
func TestWrongAnswersAreNotRanked(t *testing.T) {
	run := agreeing(t, 6) // a and b are alike, c is slower
	for i := range run.Targets[0].Repeats {
		r := &run.Targets[0].Repeats[i]
		for j := range r.Queries {
			for k := range r.Queries[j].Each {
				r.Queries[j].Each[k] /= 5
			}
		}
		if i == 3 {
			q := r.Type("type-4")
			q.Verdict.Difference, q.Withheld = "query 7: a row is missing", "wrong answer to query 7"
		}
	}
	pooled, err := run.Pool()
	if err != nil {
		t.Fatal(err)
	}
	const says = "a is not ranked: wrong answers in type-4"
	g := rank.NewGroup(pooled)
	h := rank.NewHeadline(g)
	if h.Answers[0] != (doc.Bad(says)) || !strings.HasPrefix(h.Answers[1].Text, "b 1.") || !strings.Contains(h.Answers[1].Text, "× faster than c") {
		t.Errorf("the headline is %q", h.Answers)
	}
	for _, s := range []*doc.Ranking{h.Queries, h.Loads} {
		for _, p := range s.Places {
			if p.Label == "a" {
				t.Errorf("%s: a has a place: %+v", s.Title, p)
			}
		}
	}
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML, write.JSON, write.SVG} {
		out := render(t, format, write.Options{Width: 1000, Verbose: true}, pooled)
		if format == write.SVG {
			out = textOf(t, out)
		}
		for _, wrong := range []string{"a faster", "a 5", "a 6", "faster than a (", "b ÷ a", "c ÷ a"} {
			if strings.Contains(out, wrong) {
				t.Errorf("%s has %q", format, wrong)
			}
		}
		if !strings.Contains(out, removeMarkup(says, format)) {
			t.Errorf("%s lacks %q", format, says)
		}
	}
	for key, f := range fromJSON(t, pooled) {
		if strings.HasPrefix(key, "a ") != (f.Verdict == "not ranked: wrong answers in type-4") || f.Against == "a" {
			t.Errorf("JSON: %s: %s against %q", key, f.Verdict, f.Against)
		}
	}
	if out := render(t, write.CSV, write.Options{}, pooled); strings.Count(out, "not ranked: wrong answers in type-4") < 5 {
		t.Errorf("CSV: %s", out)
	}
	board := report.NewBoard(report.Subject{Run: pooled, Target: 0}, report.Subject{Run: pooled, Target: 1}, report.Subject{Run: pooled, Target: 2})
	for _, s := range [][]report.BoardEntry{board.Type("type-0"), board.Loads()} {
		if s[0].Best || s[0].Valid || !s[1].Best && s[1].Beside == "" {
			t.Errorf("board: %+v", s)
		}
	}
}

// randomRun returns a run of two targets whose rounds are of two clusters, at random.
func randomRun(r *rand.Rand) *result.Run {
	run := &result.Run{ID: "r", Status: result.Complete, Dataset: result.Dataset{Fingerprint: "f"}}
	rounds, spread, clusters := 1+r.IntN(8), 0.01+0.3*r.Float64(), math.Log(1+100*r.Float64())
	for _, name := range []string{"a", "b"} {
		t := result.Target{Name: name, Driver: "duckdb"}
		for n := range rounds {
			level := spread*r.NormFloat64() + clusters*float64(r.IntN(2)*r.IntN(2))
			q := result.Queries{Type: "t", Executed: 5, Verdict: result.Verdict{Checked: 1}, First: 5 * n}
			service := measure.NewLatency()
			for range 5 {
				each := 0.1 * math.Exp(level+0.05*r.NormFloat64())
				if r.IntN(30) == 0 {
					each, q.AtLeast = -each, q.AtLeast+1
				}
				q.Each = append(q.Each, each)
				service.Record(time.Duration(1e9 * math.Abs(each)))
			}
			var err error
			if q.Service, err = result.LatencyOf(service); err != nil {
				panic(err)
			}
			t.Repeats = append(t.Repeats, result.Repeat{Number: n + 1, Queries: []result.Queries{q}})
		}
		run.Targets = append(run.Targets, t)
	}
	pooled, err := run.Pool()
	if err != nil {
		panic(err)
	}
	return pooled
}

// A ratio beside two medians always is their quotient, to the digits printed. A tie is
// never beside a ratio beyond its bounds, and its interval holds 1. This holds for the
// tables of compare and of a report.
func TestPrintedRatiosAreOfPrintedMedians(t *testing.T) {
	slowtest.Skip(t)
	r := rand.New(rand.NewPCG(1, 9))
	seen := map[string]int{}
	for range 120 {
		run := randomRun(r)
		side := func(name string) compare.Side { return compare.Side{Runs: []*result.Run{run}, Target: name} }
		c, err := compare.Runs(side("a"), side("b"), compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Targets[0].Figures {
			f := &c.Targets[0].Figures[i]
			if f.Verdict == compare.NotCompared {
				continue
			}
			cells := comparison.NewRow(f).Cells
			agrees(t, "compare", cells[3].Text, cells[1].Text, cells[5].Text)
			if f.Verdict == compare.NoDifference {
				if f.Ratio.Bound == stats.Exact && (f.Ratio.Figure > 2 || f.Ratio.Figure < 0.5) || f.Interval != nil && !f.Interval.Holds(stats.Value{Figure: 1}) {
					t.Fatalf("%s: no difference shown at %v in %+v", f.Metric, f.Ratio, f.Interval)
				}
			}
			seen[string(f.Verdict)+" "+string(f.Cause)]++
		}
		g := rank.NewGroup(run)
		ranked, cells := g.RankType("t"), rank.TypeRow(g, "t").Cells[1:]
		for i, f := range ranked.Figures {
			if f == nil {
				continue
			}
			agrees(t, "report", cells[2*i].Text, cells[2*ranked.Reference].Text, strings.TrimSuffix(cells[2*i+1].Text, "×"))
			if cells[2*ranked.Reference+1].Text == rank.ChanceMark+format.Ratio(1) && f.Ratio.Bound == stats.Exact && f.Ratio.Figure > 2 {
				t.Fatalf("a tie at %v", f.Ratio)
			}
		}
	}
	for _, verdict := range []string{"slower ", "no difference shown ", "no verdict one repeat", "no verdict scattered repeats"} {
		if seen[verdict] == 0 {
			t.Errorf("no figure is %q: the trials prove nothing; there are %v", verdict, seen)
		}
	}
}

// agrees wants a printed ratio to be the quotient of two printed times, to the digits that
// these have. A text that is not a ratio must give the reason.
func agrees(t *testing.T, where, of, by, times string) {
	t.Helper()
	number := func(s string) (float64, bool) {
		s = strings.NewReplacer(",", "", format.UnitSpace, " ", rank.ChanceMark, "").Replace(s)
		value, unit, _ := strings.Cut(strings.TrimRight(s, "†‡"), " ")
		v, err := strconv.ParseFloat(value, 64)
		factor := map[string]float64{"": 1, "s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]
		return v * factor, err == nil && factor > 0
	}
	x, known := number(times)
	if !known {
		return
	}
	p, okP := number(of)
	q, okQ := number(by)
	const printed = 3 * 0.005 // each of three figures has three digits
	if !okP || !okQ || math.Abs(math.Log(x/(p/q))) > printed {
		t.Fatalf("%s: %q ÷ %q is printed as %q", where, of, by, times)
	}
}
