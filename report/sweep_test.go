package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/sweep"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// sweepFixture returns a sweep whose last point was not begun; in the second point one
// target failed.
func sweepFixture(t *testing.T) (*result.Sweep, []*result.Run) {
	t.Helper()
	s := &result.Sweep{ID: "20260131-154459-s0af1", Name: "nightly", Command: "run", Args: []string{"tsmark", "run", "--sweep", "load.workers=1,2"},
		Experiment: "name: nightly\nmatrix:\n  load.workers: [1, 2]\n", Started: started, Points: 4}
	var runs []*result.Run
	for i, values := range [][2]string{{"1", "10s"}, {"1", "1m"}, {"2", "10s"}} {
		r, _ := fixture(t)
		r.ID = []string{"20260131-154500-aaa1", "20260131-155000-aaa2", "20260131-155500-aaa3"}[i]
		r.Place = result.Place{Sweep: s.ID, Point: i + 1, Points: 4,
			Parameters: result.Parameters{{Path: "load.workers", Value: values[0]}, {Path: "workload.log-interval", Value: values[1]}}}
		duck, quest := &r.Targets[0], &r.Targets[1]
		duck.Load.Settled /= float64(i + 1)
		for n := range 6 { // rounds that differ a little
			for _, target := range []*result.Target{duck, quest} {
				one := result.Repeat{Number: n + 1}
				if n == 0 {
					one.Load, one.Queries = target.Load, slices.Clone(target.Queries[2:])
				}
				for _, q := range target.Queries[:2] {
					q.Each = nil
					for range 20 {
						q.Each = append(q.Each, q.Service.Median*(1+0.01*float64(n))/float64(i+1))
					}
					one.Queries = append(one.Queries, q)
				}
				target.Repeats = append(target.Repeats, one)
			}
		}
		// Two processes of one database, whose memory differs from run to run.
		r.OtherDatabases = []result.OtherDatabase{{Name: "PostgreSQL", PID: 7, RSS: result.Value(i + 1<<20)}, {Name: "PostgreSQL", PID: 8, RSS: 1 << 20}}
		if i == 1 {
			r.Status, quest.Load, quest.Queries, quest.Repeats, quest.Failure = result.Incomplete, nil, nil, nil, "localhost:9000 cannot be reached"
			r.Reason = "target quest: " + quest.Failure
		}
		runs = append(runs, r)
	}
	for _, r := range runs {
		for i := range r.Targets {
			withoutWithheld(&r.Targets[i])
		}
	}
	return s, runs
}

func renderSweep(t *testing.T, format write.Format) string {
	t.Helper()
	s, runs := sweepFixture(t)
	var b bytes.Buffer
	if err := sweep.Write(&b, format, s, runs, write.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSweepGolden(t *testing.T) {
	golden(t, "sweep.txt", renderSweep(t, write.Text))
	golden(t, "sweep.md", renderSweep(t, write.Markdown))
}

// A target is found in each run by its name, also if its label says which system it is.
func TestSweepOfLabelledTargets(t *testing.T) {
	s, runs := sweepFixture(t)
	for _, r := range runs {
		r.Targets[0].Description.System = "MariaDB"
	}
	var b bytes.Buffer
	if err := sweep.Write(&b, write.Text, s, runs, write.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"duck (MariaDB)", "Median service time: duck"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
	if answers := sweep.Answers(runs); !slices.ContainsFunc(answers, func(n doc.Span) bool { return strings.HasPrefix(n.Text, "duck, load: ") }) {
		t.Errorf("no answer about the loads: %q", answers)
	}
}

func TestSweepHTML(t *testing.T) {
	page := renderSweep(t, write.HTML)
	p := parse(t, page)
	for _, want := range []string{
		"Sweep 20260131-154459-s0af1 nightly", "incomplete, 2 of 4 runs", "1 run not begun; tsmark resume 20260131-154459-s0af1 goes on.",
		"In aaa2: INCOMPLETE: target quest: localhost:9000 cannot be reached", "By load.workers", "By workload.log-interval", "duck, workload.log-interval=10s",
		"tsmark report 20260131-155500-aaa3", "matrix:\n  load.workers: [1, 2]", "quest (failed)",
		// The interval of six repeats that rise by 1 % each.
		"duck, workload.log-interval=10s, load.workers=2: 713 µs, 696 µs to 730 µs with 97 %",
	} {
		if !strings.Contains(p.text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	// By each parameter: the load, each type with a figure, and the size.
	if got, want := p.elements["figure"], 2*(1+6+1); got != want {
		t.Errorf("%d figures, want %d", got, want)
	}
	for _, link := range p.links {
		if id, ok := strings.CutPrefix(link, "#"); ok && strings.Count(page, ` id="`+id+`"`) != 1 {
			t.Errorf("%s leads to %d places", link, strings.Count(page, ` id="`+id+`"`))
		}
	}
}

func TestSweepForPrograms(t *testing.T) {
	lines, err := csv.NewReader(strings.NewReader(renderSweep(t, write.CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last := lines[len(lines)-1]
	if got, want := strings.Join(last[len(last)-3:], ";"), "20260131-154459-s0af1;3;load.workers=2, workload.log-interval=10s"; got != want {
		t.Errorf("the last line ends with %s, want %s", got, want)
	}
	var read struct {
		Sweep result.Sweep
		Runs  []result.Run
	}
	if err := json.Unmarshal([]byte(renderSweep(t, write.JSON)), &read); err != nil {
		t.Fatal(err)
	}
	if read.Sweep.Points != 4 || len(read.Runs) != 3 || read.Runs[2].Parameters.String() != "load.workers=2, workload.log-interval=10s" {
		t.Errorf("JSON has %+v and %d runs", read.Sweep, len(read.Runs))
	}
}

// Points have the memory of servers and first answers where these were measured; values that are words have bars
// for the bytes of a row.
func TestSweepOfSizes(t *testing.T) {
	var runs []*result.Run
	for i, class := range []string{"constant", "noisy-gauge"} {
		r := &result.Run{ID: "20260131-15450" + class[:1] + "-aaaa", Status: result.Complete, Dataset: result.Dataset{Series: 1000, Rows: 1_000_000},
			Place: result.Place{Sweep: "s", Point: i + 1, Points: 2, Parameters: result.Parameters{{Path: "workload.metrics.classes", Value: class}}}}
		memory := result.Resources{Source: result.ServerSource("vm"), Period: 1}
		memory.Add(0, map[result.Metric]float64{result.RSS: 50e6})
		memory.Add(10, map[result.Metric]float64{result.RSS: 54e6})
		r.Resources = []result.Resources{memory}
		r.Targets = []result.Target{{Name: "vm", Driver: "victoriametrics", Idle: "pause",
			Load:    &result.Load{Rows: 1_000_000, Sent: 8, Acked: 8, Settled: 10, DiskBytes: int64(400_000 * (i + 1)), Cell: result.Cell{From: 0, To: 10}},
			Queries: []result.Queries{{Type: "series", Executed: 1, Verdict: result.Verdict{Checked: 1, Rows: 1}, Service: latencies(t, 1, 1, time.Millisecond), Starts: []float64{0.5 * float64(i+1)}}}}}
		runs = append(runs, r)
	}
	s := &result.Sweep{ID: "s", Points: 2, Started: started}
	var text, page bytes.Buffer
	if err := sweep.Write(&text, write.Text, s, runs, write.Options{Width: 200}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"disk/row  RSS max  RSS/series  first answer", "0.400B  51.5MiB     3.91KiB         500ms", "0.800B  51.5MiB     3.91KiB         1.00s"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
	if err := sweep.Write(&page, write.HTML, s, runs, write.Options{}); err != nil {
		t.Fatal(err)
	}
	if p := parse(t, page.String()); !strings.Contains(p.text, "Bars are bytes on disk for each row") || strings.Contains(p.text, "Size on disk") || !strings.Contains(p.text, "Memory of a series") {
		t.Errorf("the page does not draw the sizes as bars, and the memory as curves")
	}
}

// Numbers are placed by their logarithm, whatever their order; words side
// by side.
func TestScale(t *testing.T) {
	s, ok := chart.NewScale([]string{"4", "1", "2"})
	if !ok || !s.Joined || s.At["1"] != 0.04 || s.At["2"] != 0.5 || s.At["4"] < 0.9599 || s.Ticks[0].Label != "1" {
		t.Errorf("numbers: %+v", s)
	}
	if s, _ = chart.NewScale([]string{"30s", "1h"}); !s.Joined || s.At["30s"] >= s.At["1h"] {
		t.Errorf("durations: %+v", s)
	}
	if s, _ = chart.NewScale([]string{"strict", "relaxed"}); s.Joined || s.At["strict"] != 0.25 || s.At["relaxed"] != 0.75 {
		t.Errorf("words: %+v", s)
	}
	if s, _ = chart.NewScale([]string{"0", "10"}); s.Joined {
		t.Errorf("a zero has no logarithm: %+v", s)
	}
	if _, ok = chart.NewScale([]string{"1"}); ok {
		t.Error("one value makes no axis")
	}
}

// A sweep's report begins with the best point, its margin, and the differences that were
// not shown; its figures are the same as in tsmark compare of the two runs.
func TestSweepAnswers(t *testing.T) {
	slowtest.Skip(t)
	point := func(number int, value string, slower float64) *result.Run {
		r := agreeing(t, 6)
		r.ID, r.Targets = "20260131-15450"+value+"-aaaa", r.Targets[:1]
		r.Place = result.Place{Sweep: "s", Point: number, Points: 3, Parameters: result.Parameters{{Path: "load.workers", Value: value}}}
		for i := range r.Targets[0].Repeats {
			for j := range r.Targets[0].Repeats[i].Queries {
				for k := range r.Targets[0].Repeats[i].Queries[j].Each {
					r.Targets[0].Repeats[i].Queries[j].Each[k] *= slower
				}
			}
		}
		return r
	}
	one, two, four := point(1, "1", 1.5), point(2, "2", 1), point(3, "4", 1.0001)
	c, err := compare.Runs(compare.Side{Runs: []*result.Run{two}}, compare.Side{Runs: []*result.Run{one}}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := rank.FindFigure(c, compare.AllTypes, compare.GeoMean)
	answers := sweep.Answers([]*result.Run{one, two, four})
	if len(answers) != 3 {
		t.Fatalf("%q", answers)
	}
	want := "a, service time over 5 query types: load.workers=2 " + format.Ratio(f.Ratio.Figure) + " faster than load.workers=1" + rank.BracketedInterval(f) + "; no difference shown between load.workers=2 and load.workers=4 ("
	if got := answers[0].Text; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := answers[1].Text; !strings.HasPrefix(got, "a, load: no difference shown between load.workers=1 and load.workers=2 (") {
		t.Errorf("loads that are alike: %q", got)
	}
	for _, a := range answers {
		if a.Tone == format.ToneBest {
			t.Errorf("%q praises what may be the machine", a.Text)
		}
	}
	// Loads that differ have their direction: less time is better.
	for i := range two.Targets[0].Repeats {
		l := two.Targets[0].Repeats[i].Load
		l.Sent, l.Acked, l.Settled = l.Sent/2, l.Acked/2, l.Settled/2
	}
	if got := sweep.Answers([]*result.Run{one, two, four})[1].Text; !strings.HasPrefix(got, "a, load: load.workers=2 ") || !strings.Contains(got, "faster than load.workers=1 and") && !strings.Contains(got, "faster than load.workers=1 (") {
		t.Errorf("loads that differ: %q", got)
	}
	// Of a sweep with many points the best ones and the last are named.
	var many []*result.Run
	for i := range 8 {
		many = append(many, point(i+1, strconv.Itoa(i+1), 1+0.3*float64(i)))
	}
	if got := sweep.Answers(many)[0].Text; strings.Count(got, "load.workers=") != 5 || !strings.Contains(got, "× faster than load.workers=2") || !strings.Contains(got, " and load.workers=8 (") || !strings.HasSuffix(got, "(of 8 points)") {
		t.Errorf("of many: %q", got)
	}
	// Other data make no point better.
	four.Dataset.Fingerprint = "g"
	if got := sweep.Answers([]*result.Run{one, two, four}); len(got) != 1 || !strings.HasPrefix(got[0].Text, "The points differ in their data") {
		t.Errorf("of other data: %q", got)
	}
	var page strings.Builder
	if err := sweep.Write(&page, write.HTML, &result.Sweep{Points: 3}, []*result.Run{one, two, four}, write.Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), `class="card headline"`) {
		t.Error("an answer that is the heading leaves an empty card")
	}
	if got := sweep.Answers([]*result.Run{one}); got != nil {
		t.Errorf("of one point: %q", got)
	}
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML, write.JSON} {
		if out := renderSweep(t, format); !strings.Contains(out, "no verdict between 3 points: 1 round each") {
			t.Errorf("%s lacks the answer", format)
		}
	}
}
