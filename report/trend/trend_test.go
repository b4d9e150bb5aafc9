package trend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/result"
)

// night returns a run of two targets with one query type, slower by a factor.
func night(number int, factor float64) *result.Run {
	r := rand.New(rand.NewPCG(uint64(number), 5))
	target := func(name string, factor float64) result.Target {
		t := result.Target{Name: name, Driver: "sqlite"}
		t.Description.Version = fmt.Sprintf("3.%d", number/40)
		for repeat := range 6 {
			each := make([]float64, 20)
			for i := range each {
				each[i] = 0.001 * factor * math.Exp(0.01*r.NormFloat64())
			}
			t.Repeats = append(t.Repeats, result.Repeat{Number: repeat + 1, Queries: []result.Queries{{Type: "lastpoint", Verdict: result.Verdict{Checked: 10, Rows: 10},
				Executed: 20, Each: each, Service: result.Latency{Summary: measure.Summary{Count: 20}}}}})
		}
		return t
	}
	slow := math.Exp(0.1 * r.NormFloat64()) // for all targets of a night
	return &result.Run{ID: fmt.Sprintf("20260101-020000-%04d", number), Status: result.Complete, Started: time.Unix(int64(number)*86400, 0), Dataset: result.Dataset{Fingerprint: "f"},
		Targets: []result.Target{target("nightly", slow*factor), target("pinned", slow)}}
}

// history builds a trend of nights, whose target is slower by a factor from the 50th on.
func history(t *testing.T, nights int, factor float64, reference string, change func(*result.Run)) *Trend {
	t.Helper()
	var b *Builder
	for i := nights - 1; i >= 0; i-- {
		r := night(i, 1)
		if i >= 50 {
			r = night(i, factor)
		}
		if change != nil {
			change(r)
		}
		var err error
		if b == nil {
			b, err = NewBuilder(r, "nightly", reference)
		} else {
			err = b.Add(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Trend(30)
}

func median(t *testing.T, of *Trend) *Figure {
	t.Helper()
	for i := range of.Figures {
		if f := &of.Figures[i]; f.Subject == "lastpoint" && f.Metric == compare.Median {
			return f
		}
	}
	t.Fatal("no median")
	return nil
}

func limit(t *testing.T, text string) compare.Condition {
	t.Helper()
	c, err := ParseCondition(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Nights that slow down all targets hide a step of 5 %; the ratio to a reference in the same runs shows it.
func TestReference(t *testing.T) {
	if f := median(t, history(t, 60, 1.05, "", nil)); len(f.Steps) != 0 || f.Noise < 0.05 {
		t.Errorf("without a reference: %+v, noise %v", f.Steps, f.Noise)
	}
	trend := history(t, 60, 1.05, "pinned", nil)
	f := median(t, trend)
	if len(f.Steps) != 1 || !f.Steps[0].Worse || f.Steps[0].Low > 1.05 || f.Steps[0].High < 1.05 || trend.Runs[f.Steps[0].First].ID != "20260101-020000-0050" || f.Unit != Ratio {
		t.Errorf("with a reference: %+v", f)
	}
	holds, open := trend.Check(limit(t, "step > 3%"))
	if len(holds) != 1 || open != "" || !strings.Contains(holds[0], "nightly lastpoint median 5.") {
		t.Errorf("condition: %q, %q", holds, open)
	}
	if holds, open := trend.Check(limit(t, "step > 8%")); len(holds) != 0 || open != "" {
		t.Errorf("larger limit: %q, %q", holds, open)
	}
	// A step that makes it better does not fail.
	if holds, open := history(t, 60, 0.95, "pinned", nil).Check(limit(t, "step > 3%")); len(holds) != 0 || open != "" {
		t.Errorf("better: %q, %q", holds, open)
	}
}

// A figure that the newest run lacks fails the condition: nothing shows that it is not worse.
func TestMissing(t *testing.T) {
	trend := history(t, 60, 1, "pinned", func(r *result.Run) {
		if r.ID == "20260101-020000-0059" || r.ID == "20260101-020000-0040" {
			for i := range r.Targets[0].Repeats {
				r.Targets[0].Repeats[i].Queries[0].Withheld = "wrong value"
			}
		}
	})
	holds, _ := trend.Check(limit(t, "step > 3%"))
	if len(holds) == 0 || !strings.Contains(holds[0], "has no figure in the newest run: ") || !strings.Contains(holds[0], "wrong value") {
		t.Errorf("%q", holds)
	}
	if points := median(t, trend).Points; points[10].Missing == "" || points[11].Missing != "" {
		t.Errorf("points %+v", points[10:12])
	}
}

// A figure is missing if only a bound is known: the level of bounds is that of the time limit.
func TestCutOff(t *testing.T) {
	cut := func(from int) func(*result.Run) {
		return func(r *result.Run) {
			if r.ID < fmt.Sprintf("20260101-020000-%04d", from) {
				return
			}
			for i := range r.Targets[0].Repeats {
				q := &r.Targets[0].Repeats[i].Queries[0]
				for j := range q.Each {
					q.Each[j] = -1
				}
			}
		}
	}
	for _, from := range []int{0, 59} {
		trend := history(t, 60, 1, "", cut(from))
		f := median(t, trend)
		if newest := f.Points[len(f.Points)-1]; newest.Value != 0 || newest.Missing != "cut off: at least 1.00\u202fs" || f.Known != from || len(f.Steps) > 0 {
			t.Errorf("from %d: newest %+v, %d known, %d steps", from, newest, f.Known, len(f.Steps))
		}
		holds, open := trend.Check(limit(t, "step > 3%"))
		if want := "lastpoint median (0 runs)"; from == 0 && (len(holds) > 0 || !strings.Contains(open, want) || !strings.Contains(answers(trend)[0].Text, want)) {
			t.Errorf("%q, %q, %v", holds, open, answers(trend))
		}
		if from > 0 && (len(holds) == 0 || !strings.Contains(holds[0], "cut off: at least 1.00\u202fs")) {
			t.Errorf("%q, %q", holds, open)
		}
	}
}

// A figure of fewer runs than a step needs is not tested, however many runs there are.
func TestFewPoints(t *testing.T) {
	few := func(nights int) *Trend {
		return history(t, 60, 1, "pinned", func(r *result.Run) {
			if r.ID < fmt.Sprintf("20260101-020000-%04d", 60-nights) {
				return
			}
			for i := range r.Targets {
				for j := range r.Targets[i].Repeats {
					of := &r.Targets[i].Repeats[j]
					young := of.Queries[0]
					young.Type = "young"
					of.Queries = append(of.Queries, young)
				}
			}
		})
	}
	trend := few(16)
	holds, open := trend.Check(limit(t, "step > 3%"))
	if len(holds) > 0 || open != "step > +3%: too few runs have young median (16 runs), geomean (16 runs), and a step needs at least 17" {
		t.Errorf("%q, %q", holds, open)
	}
	if texts := doc.Texts(answers(trend)); !slices.Contains(texts, "Not tested: young median (16 runs), geomean (16 runs); at least 17 are needed") {
		t.Errorf("%q", texts)
	}
	if holds, open := few(17).Check(limit(t, "step > 3%")); len(holds) > 0 || open != "" {
		t.Errorf("17 runs: %q, %q", holds, open)
	}
}

// Runs that differ in more than versions are left out, with the reason.
func TestLeftOut(t *testing.T) {
	trend := history(t, 40, 1, "", func(r *result.Run) {
		switch r.ID[len(r.ID)-2:] {
		case "03":
			r.Host.Cores = 99
		case "04":
			r.Status = result.Incomplete
		case "05":
			r.Targets[0].Driver = "duckdb"
		case "06", "07":
			r.Targets[0].Options = map[string]string{"index": "tags_time"}
		case "08":
			r.Tool.Version = "v9"
		}
	})
	var got []string
	for _, l := range trend.LeftOut {
		got = append(got, fmt.Sprintf("%s (%d)", l.Why, len(l.Runs)))
	}
	if want := "option index: tags_time (2), driver of nightly: duckdb (1), incomplete (1), host: 99 cores; server elsewhere (1)"; strings.Join(got, ", ") != want {
		t.Errorf("left out: %s", strings.Join(got, ", "))
	}
	if len(trend.Runs) != 30 || trend.Earlier != 5 {
		t.Errorf("%d runs, %d earlier ones", len(trend.Runs), trend.Earlier)
	}
}
