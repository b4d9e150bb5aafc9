package history

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/history"
)

// world draws runs of versions. Each process, and so each target of a run, has a speed of its own, which
// all query types share by half.
type world struct {
	*rand.Rand
	versions int
	slower   func(version int, queryType string) float64
	wrong    func(version int, queryType string) bool
	jumpy    string                   // a query type whose processes differ by a third
	erratic  string                   // a query type whose rounds differ by a factor
	mixed    func(version int) string // why the first type of a mixed phase is withheld; nil: there is no phase
	runs     int
	pairs    []*history.Pair
}

func newWorld(seed uint64, versions int) *world {
	return &world{
		Rand: rand.New(rand.NewPCG(seed, 44)), versions: versions,
		slower: func(int, string) float64 { return 1 }, wrong: func(int, string) bool { return false },
	}
}

func (w *world) names() (list []string) {
	for i := range w.versions {
		list = append(list, fmt.Sprint("v", i))
	}
	return list
}

var typeNames = []string{"first", "second", "third", "fourth"}

const (
	rounds  = 6
	process = 0.005 // deviation of a process, as a share
	round   = 0.01
)

func (w *world) target(version int) result.Target {
	t := result.Target{Name: w.names()[version], Driver: "duckdb"}
	speed := make(map[string]float64)
	common := w.NormFloat64()
	for _, name := range typeNames {
		speed[name] = w.slower(version, name) * math.Exp(process*(common+w.NormFloat64())/math.Sqrt2)
		if name == w.jumpy {
			speed[name] *= math.Exp(0.3 * w.NormFloat64())
		}
	}
	for n := range rounds {
		r := t.RepeatOf(n + 1)
		for _, name := range typeNames {
			q := result.Queries{Type: name, Verdict: result.Verdict{Checked: 10, Rows: 10}, Executed: 20, Service: result.Latency{Summary: measure.Summary{Count: 20}}}
			if w.wrong(version, name) {
				q.Withheld = "2 of 10 answers are wrong"
			}
			speed := speed[name]
			if name == w.erratic {
				speed *= math.Exp(2 * w.NormFloat64())
			}
			for range 20 {
				q.Each = append(q.Each, 0.001*speed*math.Exp(round*w.NormFloat64()))
			}
			r.Queries = append(r.Queries, q)
		}
		if w.mixed != nil {
			r.Load = &result.Load{Rows: 1e6, DiskBytes: 1e6, Settled: 2 * math.Exp(round*w.NormFloat64()), Mixed: &result.Mixed{Writes: result.Load{Rows: 1e6, Acked: math.Exp(round * w.NormFloat64())}}}
			for i, name := range typeNames[:2] {
				q := result.MixedType{Type: name, Executed: 110, Verdict: result.Verdict{Checked: 10, Rows: 10}, Service: result.Latency{Summary: measure.Summary{Count: 100, Median: 0.001 * math.Exp(round*w.NormFloat64())}}}
				if i == 0 {
					q.Withheld = w.mixed(version)
				}
				r.Load.Mixed.Types = append(r.Load.Mixed.Types, q)
			}
		}
	}
	t.Queries = t.Repeats[0].Queries
	return t
}

// compare adds a run of two versions.
func (w *world) compare(a, b int) {
	w.runs++
	run := &result.Run{ID: fmt.Sprint("run-", w.runs), Status: result.Complete, Started: time.Unix(int64(w.runs), 0), Dataset: result.Dataset{Fingerprint: "f"},
		Targets: []result.Target{w.target(a), w.target(b)}}
	i := slices.IndexFunc(w.pairs, func(p *history.Pair) bool { return p.A == a && p.B == b })
	if i < 0 {
		i = len(w.pairs)
		w.pairs = append(w.pairs, &history.Pair{A: a, B: b})
	}
	w.pairs[i].Runs = append(w.pairs[i].Runs, run)
}

// history compares all neighbours, and makes the comparisons that the history then wants.
func (w *world) history(t *testing.T) *History {
	for i := range w.versions - 1 {
		w.compare(i, i+1)
	}
	for {
		h, err := New(w.names(), w.pairs)
		if err != nil {
			t.Fatal(err)
		}
		wanted := h.FindWanted()
		if len(wanted) == 0 {
			return h
		}
		for _, one := range wanted {
			w.compare(one.A, one.B)
		}
	}
}

// Versions that do not differ have no steps, though processes do; a planted step is found, in the types
// that have it, and its interval holds it as often as its level says: also of steps that are hardly large
// enough to be reported, which are found only if chance adds to them.
func TestSteps(t *testing.T) {
	const histories, versions, at = 40, 4, 2
	falseSteps, runs := 0, 0
	for seed := range uint64(histories) {
		w := newWorld(seed, versions)
		falseSteps += len(w.history(t).Steps())
		runs += w.runs
	}
	t.Logf("%d runs of %d histories without a step", runs, histories)
	for _, c := range []struct{ step, found float64 }{{1.1, 1}, {1.05, 0.8}, {1.03, 0.2}} {
		found, covered, width := 0, 0, 0.0
		for seed := range uint64(histories) {
			w := newWorld(seed+1000, versions)
			w.slower = func(version int, queryType string) float64 {
				if version >= at && queryType == "second" {
					return c.step
				}
				return 1
			}
			for _, s := range w.history(t).Steps() {
				switch {
				case s.Version == at && s.Line.Subject == "second":
					found++
					width += math.Log(s.Change.Interval.Hi.Figure / s.Change.Interval.Lo.Figure)
					if s.Change.Interval.Holds(stats.Value{Figure: c.step}) {
						covered++
					}
				case s.Version == at && s.Line.Metric == compare.GeoMean:
				default:
					falseSteps++
				}
			}
			runs += w.runs
		}
		t.Logf("steps of %.2f: %d of %d found, %d intervals hold it, %.1f %% wide", c.step, found, histories, covered, 100*width/float64(max(1, found)))
		if float64(found) < c.found*histories || float64(covered) < stats.Confidence*float64(found) {
			t.Errorf("steps of %.2f: %d of %d found, %d intervals hold it", c.step, found, histories, covered)
		}
	}
	t.Logf("%d false steps, %d runs", falseSteps, runs)
	if falseSteps > 0 {
		t.Errorf("%d false steps", falseSteps)
	}
}

// A query type that differs from run to run by a third does not hide the steps of others, and seldom has one
// by chance.
func TestJumpyType(t *testing.T) {
	const histories = 20
	found, falseSteps := 0, 0
	for seed := range uint64(histories) {
		w := newWorld(seed+2000, 5)
		w.jumpy = "first"
		w.slower = func(version int, queryType string) float64 {
			if version >= 2 && queryType == "second" {
				return 1.1
			}
			return 1
		}
		for _, s := range w.history(t).Steps() {
			switch {
			case s.Version == 2 && s.Line.Subject == "second":
				found++
			case s.Line.Subject == w.jumpy:
				falseSteps++
			case s.Line.Metric != compare.GeoMean:
				t.Errorf("seed %d: a step of %s in v%d", seed, s.Line.Label(), s.Version)
			}
		}
	}
	t.Logf("%d of %d found, %d false steps of the type", found, histories, falseSteps)
	if found < histories*9/10 || falseSteps > histories/10 {
		t.Errorf("%d of %d steps were found, and %d of the other type", found, histories, falseSteps)
	}
}

// A figure that was tested counts in the correction of all, even if its test ended without a verdict.
func TestCorrection(t *testing.T) {
	w := newWorld(8, 4)
	w.erratic = "first"
	h := w.history(t)
	var p, corrected []float64
	without := 0
	for i := range h.Lines {
		for j := range h.Lines[i].Points {
			if c := h.Lines[i].Points[j].Change; c != nil {
				p, corrected = append(p, c.Figure.P), append(corrected, c.P)
				without += btoi(c.Verdict == compare.NoVerdict)
			}
		}
	}
	if want := stats.Holm(p); without == 0 || !slices.Equal(corrected, want) {
		t.Errorf("%d of %d figures without a verdict, corrected %v, want %v", without, len(p), corrected, want)
	}
}

// The interval of a pair stays the one of its verdict; that of a change is wider and covers differences between runs, at
// 95 %. Reports call a change a step only where the history does.
func TestPairBesideHistory(t *testing.T) {
	w := newWorld(5, 3)
	w.jumpy = "first"
	h := w.history(t)
	for pair, target := range h.compared {
		for i := range target.Figures {
			f := &target.Figures[i]
			if i := f.Interval; f.Significant() && i != nil && i.Holds(stats.Value{Figure: 1}) {
				t.Errorf("v%d and v%d: %s is %s with the interval %v", pair[0], pair[1], f.Subject, f.Verdict, i)
			}
		}
	}
	noStep, steps := 0, len(h.Steps())
	for i := range h.Lines {
		for _, p := range h.Lines[i].Points {
			if c := p.Change; c != nil {
				noStep += btoi(c.Significant() && !c.IsStep())
				if c.Interval.Level > stats.Confidence {
					t.Errorf("%s: level %v", h.Lines[i].Label(), c.Interval.Level)
				}
			}
		}
	}
	if noStep == 0 || steps > 0 {
		t.Fatalf("%d pairs differ without a step, %d steps", noStep, steps)
	}
	var text bytes.Buffer
	if err := h.Write(&text, write.JSON, nil, write.Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), string(compare.Slower)) || strings.Contains(text.String(), string(compare.Faster)) || !strings.Contains(text.String(), `"outcome": "no step shown"`) {
		t.Error(text.String())
	}
	for _, part := range h.parts() {
		if rows := part.Tables[0].Rows; len(rows) != len(h.Lines) || rows[0].Cells[4].Text != "no step shown" {
			t.Errorf("%+v", rows)
		}
	}
}

// A version with wrong answers in one type of any of its runs has no figure on any line; its neighbours are compared
// with each other, and the lines go on, here with a step.
func TestWrongVersion(t *testing.T) {
	w := newWorld(7, 5)
	w.wrong = func(version int, queryType string) bool { return version == 2 && queryType == "third" && w.runs == 2 }
	w.slower = func(version int, queryType string) float64 {
		if version > 2 && queryType == "second" {
			return 1.2
		}
		return 1
	}
	h := w.history(t)
	for i := range h.Lines {
		l := &h.Lines[i]
		for j := range l.Points {
			p := &l.Points[j]
			wrong := j == 2 && (l.Subject == "third" || l.Metric == compare.GeoMean)
			if p.Wrong != wrong || (j == 2) != (p.Missing != "") || j != 2 && p.Ratio.Bound != stats.Exact || j == 3 && p.From != 1 {
				t.Errorf("%s of %s: %+v", l.Label(), h.Versions[j].Name, p)
			}
		}
	}
	if !slices.ContainsFunc(h.Steps(), func(s Step) bool { return s.Line.Subject == "second" && s.Version == 3 }) {
		t.Error("the step across the wrong version was not found")
	}
	var text bytes.Buffer
	if err := h.Write(&text, write.Text, nil, write.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"v2: withheld: third (2 of 10 answers are wrong)", "second 1.", " since v3", "not ranked "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
}

// So it is with wrong answers during a mixed phase.
func TestWrongMixed(t *testing.T) {
	w := newWorld(9, 4)
	w.mixed = func(version int) string {
		if version == 2 && w.runs == 2 {
			return "1 of 10 answers is wrong"
		}
		return ""
	}
	h := w.history(t)
	for i := range h.Lines {
		l := &h.Lines[i]
		p := &l.Points[2]
		if wrong := l.Metric == compare.MixedMedian && l.Subject == "first"; p.Missing == "" || p.Wrong != wrong {
			t.Errorf("%s %s: %+v", l.Metric, l.Label(), p)
		}
		if p := &l.Points[3]; p.Ratio.Bound != stats.Exact {
			t.Errorf("%s %s ends: %+v", l.Metric, l.Label(), p)
		}
	}
}

// The answer does not count figures that could not have had a step, here those of three loads.
func TestUntested(t *testing.T) {
	w := newWorld(3, 3)
	w.mixed = func(int) string { return "" }
	for i := range w.versions - 1 {
		w.compare(i, i+1)
		for j := range w.pairs[i].Runs[0].Targets {
			repeats := w.pairs[i].Runs[0].Targets[j].Repeats
			for k := range repeats[3:] {
				repeats[3+k].Load = nil
			}
		}
	}
	const rate = "Not tested: rows/s (while queries ran): too few repeats: 3 and 3, 4 a side would do"
	const loads = "Not tested: settled rows/s, disk: too few repeats: 3 and 3, 6 a side would do"
	check := func(want ...string) {
		t.Helper()
		h, err := New(w.names(), w.pairs)
		if err != nil {
			t.Fatal(err)
		}
		if got := doc.Texts(h.Answers()); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	}
	const queries = "Not tested: first (while rows were written), second (while rows were written): too few repeats: 3 and 3, 5 a side would do"
	check("No step of 3\u202f% or more was shown in 3 versions", queries, rate, loads)
	for _, p := range w.pairs { // sizes that are not known
		for i := range p.Runs[0].Targets {
			for _, r := range p.Runs[0].Targets[i].Repeats[:3] {
				r.Load.DiskPending = "in memory"
			}
		}
	}
	const disk = "Not tested: disk: incomplete"
	check("No step of 3\u202f% or more was shown in 3 versions", strings.Replace(queries, "written):", "written), settled rows/s:", 1), rate, disk)
	for _, p := range w.pairs {
		for i := range p.Runs[0].Targets {
			target := &p.Runs[0].Targets[i]
			target.Queries, target.Repeats = nil, target.Repeats[:3]
			for j := range target.Repeats {
				target.Repeats[j].Queries = nil
			}
		}
	}
	check(queries, strings.Replace(rate, "ran):", "ran), settled rows/s:", 1), disk)
}

// The evidence of a bisection has the ratio of each run, and of the one that goes on.
func TestEvidence(t *testing.T) {
	w := newWorld(4, 2)
	w.slower = func(version int, _ string) float64 { return 1 + 0.2*float64(version) }
	for range 3 {
		w.compare(0, 1)
	}
	j := &Judge{Metric: compare.Median, Type: "second", Names: w.names(), Alpha: stats.Alpha}
	p := *w.pairs[0]
	running := p.Runs[2]
	p.Runs = p.Runs[:2]
	if e := j.Evidence(&p, nil); len(e.Each) != 2 || !strings.HasSuffix(e.Text, "after 12 rounds in 2 runs") || min(e.Each[0], e.Each[1]) > e.Ratio || max(e.Each[0], e.Each[1]) < e.Ratio {
		t.Errorf("%+v", e)
	}
	if e := j.Evidence(&p, running); len(e.Each) != 3 {
		t.Errorf("%+v", e)
	}
	if j.Metric = Answers; j.Evidence(&p, nil).Each != nil {
		t.Error("wrong answers need a second run")
	}
}

// A cell says why a figure is missing, not in which repeat.
func TestMissingCell(t *testing.T) {
	for missing, want := range map[string]string{"repeat 1: failed: timeout": "failed", "n/a: no such function": "n/a", "not run": "not run", "repeat 2: not run": "not run"} {
		if got := (&Line{}).cell(&Point{Missing: missing}); got.Text != want {
			t.Errorf("%s: %q", missing, got.Text)
		}
	}
}
