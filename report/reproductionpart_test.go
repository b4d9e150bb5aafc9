package report_test

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/reproduction"
	"github.com/tsmark/tsmark/report/sweep"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/reproduce/printed"
)

// theDocument is one of tsmark's, with an experiment.
func theDocument(t *testing.T, name, experiment string) (*document.Document, *document.Experiment) {
	t.Helper()
	d, ok := document.Find(name)
	if !ok {
		t.Fatalf("there is no document %s", name)
	}
	e, ok := d.Experiment(experiment)
	if !ok {
		t.Fatalf("%s has no experiment %s", name, experiment)
	}
	return d, e
}

// newTarget returns a target with six loads at perSecond rows a second, of 1,000 rows each.
func newTarget(kind string, perSecond float64) result.Target {
	t := result.Target{Name: kind, Driver: kind}
	for i := range 6 {
		took := 1000 / perSecond
		load := &result.Load{Rows: 1000, Metrics: 10000, Settled: took, Acked: took, Sent: took, DiskBytes: int64(1000 * took), Census: []result.CensusResult{{Table: "cpu", Expected: 1000, Counted: 1000}}}
		t.Repeats = append(t.Repeats, result.Repeat{Number: i + 1, Load: load})
	}
	return t
}

// answering is a target that answered n queries of a type in each of six rounds, each
// in ms milliseconds.
func answering(kind, queryType string, n int, ms float64) result.Target {
	t := result.Target{Name: kind, Driver: kind}
	for i := range 6 {
		q := result.Queries{Type: queryType, Workers: 1, Executed: int64(n), Wall: float64(n) * ms / 1000, Service: result.Latency{Summary: measure.Summary{Count: int64(n)}}, Verdict: result.Verdict{Checked: 3, Rows: 3}}
		for range n {
			q.Each = append(q.Each, ms/1000)
		}
		t.Repeats = append(t.Repeats, result.Repeat{Number: i + 1, Queries: []result.Queries{q}})
	}
	return t
}

// pointOf is a run at a point; parameters are path, value, path, value.
func pointOf(targets []result.Target, parameters ...string) *result.Run {
	r := &result.Run{ID: "20260101-000000-" + strings.Join(parameters, "-"), Status: result.Complete, Targets: targets, Dataset: result.Dataset{Rows: 1000, Metrics: 10000}}
	for i := 0; i < len(parameters); i += 2 {
		r.Parameters = append(r.Parameters, result.Parameter{Path: parameters[i], Value: parameters[i+1]})
	}
	return r
}

// cellsOf are the cells of a part by its tables' titles, lines, and heads; a head that
// stands for the one before it has that before it.
func cellsOf(part doc.Section) map[string]string {
	cells := make(map[string]string)
	for _, one := range part.Tables {
		for _, r := range one.Rows {
			head := ""
			for i, c := range r.Cells {
				if of, isPrinted := strings.CutSuffix(one.Columns[i].Head, ", printed"); isPrinted {
					head = of
				}
				key := one.Columns[i].Head
				if one.Columns[i].Follows {
					key = head + " " + key
				}
				cells[one.Title+"|"+r.Cells[0].Text+"|"+key] = c.Text
			}
		}
	}
	return cells
}

// rateOf returns the rows a second of the systems of fixstarsLoads.
func rateOf(kind string, scale, workers int) float64 {
	return map[string]float64{"griddb": 90000, "questdb": 70000, "timescaledb": 110000, "sqlite": 50000}[kind] / float64(workers) * (1 + 100/float64(scale))
}

// fixstarsLoads are the runs of the document's loads in small.
func fixstarsLoads() []*result.Run {
	var runs []*result.Run
	for _, point := range []struct {
		scale int
		end   string
	}{{100, "13:53:20"}, {1000, "02:46:40"}, {10000, "01:00:00"}} {
		for _, workers := range []int{2, 1} {
			var targets []result.Target
			for _, kind := range []string{"griddb", "questdb", "timescaledb", "sqlite"} {
				targets = append(targets, newTarget(kind, rateOf(kind, point.scale, workers)))
			}
			runs = append(runs, pointOf(targets, "workload.scale", fmt.Sprint(point.scale), "load.workers", fmt.Sprint(workers), "workload.timestamp-end", point.end))
		}
	}
	return runs
}

// Each printed figure has its measurement beside it, taken where a size's value stands for
// the document's, and their quotient; then come the figures of an added target and the
// measured ratios.
func TestMeasuredCells(t *testing.T) {
	d, e := theDocument(t, "fixstars-2023", "load")
	m := claims.Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": fixstarsLoads()}}
	got := cellsOf(reproduction.New(d, m).Part(e))
	table := "E1 load, rows/s|"
	checked := 0
	for _, f := range printed.Figures("001", "load-cardinality") {
		s, known := d.System(f.System)
		if !known {
			continue
		}
		scale, here := map[string]int{"100": 100, "1000": 1000, "10000": 10000}[f.Parameters["scale"]]
		if !here {
			continue // not in this size
		}
		workers := map[string]int{"8": 2, "10": 2, "4": 1}[f.Parameters["workers"]]
		line := table + fmt.Sprintf("%s scale, %s workers|", f.Parameters["scale"], f.Parameters["workers"])
		own := rateOf(s.Driver, scale, workers)
		for head, want := range map[string]string{
			s.Driver + ", printed":    f.Text,
			s.Driver + " measured":    fmt.Sprintf("%s (%[1]s to %[1]s)", format.Digits(own)),
			s.Driver + " ÷ printed":   format.Digits(own / f.Value),
			"sqlite, measured":        fmt.Sprintf("%s (%[1]s to %[1]s)", format.Digits(rateOf("sqlite", scale, workers))),
			"griddb ÷ questdb absent": "",
		} {
			if got[line+head] != want {
				t.Errorf("%s%s: %q, want %q", line, head, got[line+head], want)
			}
			checked++
		}
		if s.Driver == "timescaledb" { // in a line with QuestDB's
			ratio := format.Times(stats.Value{Figure: own / rateOf("questdb", scale, workers)})
			if key := line + "timescaledb ÷ questdb measured"; got[key] != fmt.Sprintf("%s× (%[1]s to %[1]s)", ratio) {
				t.Errorf("%s: %q, want %s×", key, got[key], ratio)
			}
		}
	}
	if checked != 12*5 {
		t.Errorf("%d cells were compared", checked)
	}
}

// A printed 0.0 was rounded, so nothing is divided by it.
func TestNothingIsDividedByZero(t *testing.T) {
	d, e := theDocument(t, "fixstars-2023", "queries")
	runs := []*result.Run{pointOf([]result.Target{answering("questdb", "high-cpu-all", 5, 10)}, "workload.scale", "10000")}
	got := cellsOf(reproduction.New(d, claims.Measured{Size: document.Full, Runs: map[string][]*result.Run{"queries": runs}}).Part(e))
	line := "E2 queries, queries/s|high-cpu-all, 10000 scale|questdb"
	if got[line+", printed"] != "0.0" || got[line+" measured"] != "100 (100 to 100)" || got[line+" ÷ printed"] != format.None {
		t.Errorf("printed %q, measured %q, measured by printed %q", got[line+", printed"], got[line+" measured"], got[line+" ÷ printed"])
	}
}

// The metric decides which figure is looked up. A ratio of mean times that does not name a
// query type is about the experiment's types, and never about its load.
func TestMetricDecidesTheFigure(t *testing.T) {
	d, e := theDocument(t, "tsinghua-2019", "queries")
	target := func(kind string, load, ms float64) result.Target {
		one := answering(kind, "precise-point", 5, ms)
		for i, repeat := range newTarget(kind, load).Repeats {
			one.Repeats[i].Load = repeat.Load
		}
		return one
	}
	runs := []*result.Run{pointOf([]result.Target{target("timescaledb", 40000, 2), target("kairosdb", 1000, 50)}, "queries.iotdb.bucket", "500s")}
	got := cellsOf(reproduction.New(d, claims.Measured{Size: document.Small, Runs: map[string][]*result.Run{"queries": runs}}).Part(e))
	key := "E7 queries, mean in ms|all|kairosdb ÷ timescaledb"
	if got[key+", printed"] != "35×" || got[key+" measured"] != "25.0× (25.0 to 25.0)" {
		t.Errorf("printed %q, measured %q", got[key+", printed"], got[key+" measured"])
	}
}

// Seconds of a whole run are shown if a point is whole and all its queries were run,
// whatever the name of the size; otherwise systems are compared by each query.
func TestWholeRuns(t *testing.T) {
	d, e := theDocument(t, "ntua-2024", "queries")
	at := []string{"workload.timestamp-end", "2016-01-02T13:45:00Z", "queries.workers", "1", "server-memory", "all"}
	for _, c := range []struct {
		executed       [2]int // InfluxDB, TimescaleDB
		influxdb, time string
	}{
		{[2]int{1000, 1000}, "1.00 (1.00 to 1.00)", "2.00 (2.00 to 2.00)"},
		{[2]int{1000, 400}, "1.00 (1.00 to 1.00)", format.None},
		{[2]int{300, 300}, format.None, format.None},
	} {
		run := pointOf([]result.Target{answering("influxdb", "lastpoint", c.executed[0], 1), answering("timescaledb", "lastpoint", c.executed[1], 2)}, at...)
		got := cellsOf(reproduction.New(d, claims.Measured{Size: document.Small, Runs: map[string][]*result.Run{"queries": {run}}}).Part(e))
		line := "E2 queries, seconds of all queries|small, lastpoint, 1 worker|"
		if got[line+"influxdb measured"] != c.influxdb || got[line+"timescaledb measured"] != c.time || got[line+"influxdb ÷ timescaledb measured"] != "0.500× (0.500 to 0.500)" {
			t.Errorf("%v: %q, %q, ratio %q", c.executed, got[line+"influxdb measured"], got[line+"timescaledb measured"], got[line+"influxdb ÷ timescaledb measured"])
		}
		if remark := got[line+"remark"]; (c.time == format.None) != strings.Contains(remark, "its time box ended before all 1000 queries") {
			t.Errorf("%v: remark %q", c.executed, remark)
		}
	}
	run := pointOf([]result.Target{answering("influxdb", "lastpoint", 1000, 1)}, "workload.timestamp-end", "2016-01-01T13:00:00Z", "queries.workers", "1")
	got := cellsOf(reproduction.New(d, claims.Measured{Size: document.Smoke, Runs: map[string][]*result.Run{"queries": {run}}}).Part(e))
	if text := got["E2 queries, seconds of all queries|small, lastpoint, 1 worker|influxdb measured"]; text != "" && text != format.None {
		t.Errorf("smoke, which has other data, shows %q", text)
	}
}

// Charts are along the document's parameters, with a line per system; a span of data that depends
// on the number of hosts makes no line and no chart, and each other value has its own chart.
func TestLadderCharts(t *testing.T) {
	d, e := theDocument(t, "fixstars-2023", "load")
	m := claims.Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": fixstarsLoads()}}
	axes := reproduction.New(d, m).Part(e).Figures
	var found []string
	for _, a := range axes {
		for _, c := range a.Lines {
			text := strings.TrimPrefix(a.Title, "By ") + ": " + c.Title + ", " + c.Help
			for _, one := range c.Curves {
				text += fmt.Sprintf("; %s %d", one.Style.Label, len(one.Marks))
			}
			found = append(found, text)
		}
	}
	want := []string{
		"workload.scale: rows/s, load.workers=2; griddb 3; questdb 3; timescaledb 3; sqlite 3",
		"workload.scale: rows/s, load.workers=1; griddb 3; questdb 3; timescaledb 3; sqlite 3",
	}
	for _, scale := range []string{"100", "1000", "10000"} {
		want = append(want, "load.workers: rows/s, workload.scale="+scale+"; griddb 2; questdb 2; timescaledb 2; sqlite 2")
	}
	if !slices.Equal(found, want) {
		t.Errorf("charts are\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

// The document's words stand for values that it has words for, and its figure goes up.
func TestChartInWords(t *testing.T) {
	d, e := theDocument(t, "taos-2023", "rows-per-device")
	var runs []*result.Run
	for _, end := range []string{"2016-01-01T00:03:00Z", "2016-01-01T00:12:00Z", "2016-01-01T01:36:00Z"} {
		runs = append(runs, pointOf([]result.Target{newTarget("tdengine", 1000)}, "workload.timestamp-end", end))
	}
	part := reproduction.New(d, claims.Measured{Size: document.Small, Runs: map[string][]*result.Run{e.Name: runs}}).Part(e)
	if len(part.Figures) != 1 || len(part.Figures[0].Lines) != 1 {
		t.Fatalf("%d axes", len(part.Figures))
	}
	var ticks []string
	c := part.Figures[0].Lines[0]
	for _, tick := range c.XTicks {
		ticks = append(ticks, tick.Label)
	}
	if part.Figures[0].Title != "By rows_per_device" || c.Y != "metrics/s" || !slices.Equal(ticks, []string{"18", "72", "576"}) {
		t.Errorf("by %s, %s goes up, ticks %v", part.Figures[0].Title, c.Y, ticks)
	}
	if got := cellsOf(part)["E6 rows-per-device, metrics/s, measured|rows_per_device=72|tdengine"]; got != "10,000 (10,000 to 10,000)" {
		t.Errorf("with 72 rows a device it shows %q", got)
	}
}

func TestIndependent(t *testing.T) {
	point := func(a, b, c string) result.Parameters {
		return result.Parameters{{Path: "a", Value: a}, {Path: "b", Value: b}, {Path: "c", Value: c}}
	}
	for _, c := range []struct {
		points []result.Parameters
		want   string
	}{
		{[]result.Parameters{point("1", "x", "p"), point("2", "y", "p"), point("1", "x", "q")}, "a c"}, // b goes with a: the first is kept
		{[]result.Parameters{point("1", "x", "p"), point("2", "x", "p"), point("3", "y", "p")}, "a"},   // a determines b, and not the other way
		{[]result.Parameters{point("1", "x", "p"), point("1", "y", "p"), point("2", "z", "q")}, "b"},
		{[]result.Parameters{point("1", "x", "p"), point("2", "x", "p"), point("1", "y", "q"), point("2", "y", "q")}, "a b"},
	} {
		if got := strings.Join(sweep.IndependentPaths(c.points, []string{"a", "b", "c"}), " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.points, got, c.want)
		}
	}
}

// Markdown shows the same parts of an experiment as HTML: the notes of its size, every table, and
// runs; experiments without printed figures too, and how servers start. Text has it with --verbose.
func TestEachFormatHasAll(t *testing.T) {
	d, e := theDocument(t, "fixstars-2023", "load")
	batches := pointOf([]result.Target{newTarget("griddb", 30000), newTarget("griddb", 3000)}, "load.batch-size", "1000")
	m := claims.Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": fixstarsLoads(), "batch-size": {batches}}}
	page := reproduction.New(d, m)
	parts := page.Contents().Chapters[0].Sections[1:]
	var markdown, text, html bytes.Buffer
	for format, b := range map[write.Format]*bytes.Buffer{write.Markdown: &markdown, write.Text: &text, write.HTML: &html} {
		if err := page.Write(b, format, write.Options{Verbose: true, Width: 10000}); err != nil {
			t.Fatal(err)
		}
	}
	if len(parts) < 2 {
		t.Fatalf("%d experiments are shown", len(parts))
	}
	shown := strings.ReplaceAll(markdown.String(), `\`, "")
	for _, part := range parts {
		texts := []string{part.Title}
		for _, n := range part.Notes {
			texts = append(texts, n.Text)
		}
		for _, one := range part.Tables {
			texts = append(texts, one.Title)
			if !strings.Contains(html.String(), ">"+template.HTMLEscapeString(one.Title)+"</h") {
				t.Errorf("HTML lacks table %q", one.Title)
			}
		}
		for _, r := range part.Runs {
			texts = append(texts, r.Value)
		}
		for i, want := range texts {
			if !strings.Contains(shown, want) {
				t.Errorf("Markdown lacks %q", want)
			}
			if i <= len(part.Notes)+len(part.Tables) && !strings.Contains(text.String(), want) {
				t.Errorf("text lacks %q", want)
			}
		}
	}
	for _, want := range []string{"Size small: " + e.Cut(document.Small).Words + ".", "### E10 batch-size, rows/s, measured"} {
		if !strings.Contains(shown, want) {
			t.Errorf("Markdown lacks %q", want)
		}
	}
}

// Many comparisons are counted and folded; the reason for untested ones appears
// once; no cell of a table is thousands of characters long.
func TestComparisonsFold(t *testing.T) {
	interval := &stats.Interval{Lo: stats.Value{Figure: 1.1}, Hi: stats.Value{Figure: 1.3}, Level: 0.95}
	held := claims.Part{What: "one better than another", Verdict: claims.Holds, Advantage: stats.Value{Figure: 1.2}, Interval: interval}
	missing := claims.Part{What: "lastpoint", Verdict: claims.NotTested, Why: "TSBS has no text for tdengine"}
	short, parts := reproduction.Comparisons(slices.Concat(slices.Repeat([]claims.Part{held}, 30), slices.Repeat([]claims.Part{missing}, 134)))
	if want := "164 comparisons: 30 hold; 134 not tested: TSBS has no text for tdengine"; short != want || len(parts) != 164 {
		t.Errorf("%q, %d comparisons", short, len(parts))
	}
	if short, parts := reproduction.Comparisons(slices.Repeat([]claims.Part{missing}, 134)); short != missing.Why || parts != nil {
		t.Errorf("untested parts: %q, %q", short, parts)
	}
	if short, parts := reproduction.Comparisons([]claims.Part{held, missing}); short != "one better than another: 1.200× (1.100 to 1.300), holds; 1 not tested: TSBS has no text for tdengine" || parts != nil {
		t.Errorf("of two: %q, %q", short, parts)
	}
	for i := range document.All() {
		var b bytes.Buffer
		if err := reproduction.New(&document.All()[i], claims.Measured{Size: document.Small}).Write(&b, write.Markdown, write.Options{}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			for _, c := range splitCells(line) {
				if strings.HasPrefix(line, "|") && len(c) > 1000 {
					t.Errorf("%s: a cell of %d bytes: %s…", document.All()[i].Name, len(c), c[:100])
				}
			}
		}
	}
}

// The head counts the claims that TSBS's texts can decide, even if no verdict changes.
func TestTurned(t *testing.T) {
	finding := func(id string, equal, verbatim claims.Verdict) claims.Finding {
		return claims.Finding{Claim: document.Claim{ID: id}, Verdict: equal, Verbatim: verbatim}
	}
	lost := finding("C2", claims.Holds, claims.NotTested)
	for _, c := range []struct {
		findings []claims.Finding
		want     string
	}{
		{[]claims.Finding{finding("C1", claims.Holds, "")}, ""},
		{[]claims.Finding{finding("C1", claims.Holds, claims.Holds), lost, lost}, "1 of 3 claims about queries could be judged, none of them otherwise than with equal queries."},
		{[]claims.Finding{finding("C1", claims.Holds, claims.Tie), lost}, "1 of 2 claims about queries could be judged; they turn C1 (tie with them, holds with equal queries)."},
		{[]claims.Finding{lost}, "0 of 1 claim about queries could be judged."},
	} {
		if got := (&reproduction.Report{Findings: c.findings}).ChangedVerdicts(); !strings.HasSuffix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Resource use of servers is drawn and summed up. If a server's network has no
// readings, the host's readings stand for it; if these are missing too, the page says so.
func TestServerCourses(t *testing.T) {
	_, e := theDocument(t, "taos-2023", "load-resources")
	run := pointOf([]result.Target{newTarget("tdengine", 100)})
	for i := range run.Targets[0].Repeats {
		run.Targets[0].Repeats[i].Load.From, run.Targets[0].Repeats[i].Load.To = float64(20*i), float64(20*i+10)
	}
	server := result.Resources{Source: result.ServerSource("tdengine"), Period: 1}
	host := result.Resources{Source: result.HostSource, Period: 1}
	for at := range 30 {
		server.Add(float64(at), map[result.Metric]float64{result.CPU: 2 * float64(at), result.RSS: 1 << 20})
		host.Add(float64(at), map[result.Metric]float64{result.Loopback: float64(at) * (1 << 21)})
	}
	titles := func(with ...result.Resources) (list []string, notes string, cells map[string]string) {
		run.Resources = with
		var part doc.Section
		reproduction.AddCourses(&part, e, run)
		for _, n := range part.Notes {
			notes += n.Text + "\n"
		}
		for _, f := range part.Figures {
			for _, c := range f.Lines {
				list = append(list, c.Title)
			}
		}
		return list, notes, cellsOf(part)
	}
	list, notes, cells := titles(server, host)
	if want := []string{"CPU of the server", "Memory of the server", "Network within the host"}; !slices.Equal(list, want) || strings.Contains(notes, "etwork") || !strings.Contains(notes, "No curve of disk writes of the server") {
		t.Errorf("charts %v, notes %s", list, notes)
	}
	if got := cells["E2 load-resources, servers until they had settled|Network within the host, bytes/s|tdengine, most"]; got != "2"+format.UnitSpace+"MiB" {
		t.Errorf("most of the network: %q in %v", got, cells)
	}
	if list, notes, _ := titles(server); slices.Contains(list, "Network within the host") || !strings.Contains(notes, "No curve of network within the host: Linux counts what hosts send") {
		t.Errorf("without the host's readings: %v, %s", list, notes)
	}
}

// A claim whose deciding comparison reverses at another setting says so, with both values, in each
// format; ties and settings that could not be measured change nothing.
func TestTrials(t *testing.T) {
	part := func(verdict claims.Verdict, ratio float64) claims.Part {
		value := func(f float64) stats.Value { return stats.Value{Figure: f} }
		return claims.Part{What: "load rate of a better than of b", Verdict: verdict, Advantage: value(ratio), Interval: &stats.Interval{Lo: value(ratio * 0.9), Hi: value(ratio * 1.1), Level: 0.95}, Range: "above 1"}
	}
	base := part(claims.Holds, 1.5)
	stays := claims.Trial{Setting: "load.workers=4 in place of 2", Base: base, Part: part(claims.Holds, 1.4)}
	tie := claims.Trial{Setting: "load.workers=1 in place of 2", Base: base, Part: part(claims.Tie, 1)}
	missing := claims.Trial{Setting: "b tuned (a cache)", Base: base, Part: claims.Part{What: base.What, Verdict: claims.NotTested, Why: "b failed", Advantage: stats.Value{Bound: stats.Unknown}}}
	untuned := claims.Trial{Setting: "b tuned", Base: base, Part: claims.Part{What: base.What, Verdict: claims.NotTested, Why: "the document names no tuning of b", Advantage: stats.Value{Bound: stats.Unknown}}}
	reversed := claims.Trial{Setting: "load.batch-size=500 in place of 1000", Base: base, Part: part(claims.DoesNotHold, 0.7)}
	render := func(format write.Format, trials ...claims.Trial) string {
		d, _ := document.Find("drouzas-2022")
		p := &reproduction.Report{Document: d, Measured: claims.Measured{Size: document.Small}, Findings: []claims.Finding{{Claim: d.Claims[0], Verdict: claims.Holds, Parts: []claims.Part{base}, Trials: trials}}}
		var b bytes.Buffer
		if err := p.Write(&b, format, write.Options{Verbose: true, Width: 4000}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML} {
		page := render(format, stays, tie, missing, untuned, reversed)
		for _, want := range []string{
			"holds at these settings only", "At these settings only: 1.",
			"the deciding comparison is reversed with load.batch-size=500 in place of 1000: 0.700× (0.630 to 0.770) instead of 1.500× (1.350 to 1.650)",
			"no difference is shown with load.workers=1 in place of 2", "with load.workers=4 in place of 2: 1.400×", "with b tuned (a cache): not tested, b failed",
			"with b tuned: not tested, the document names no tuning of b",
		} {
			if !strings.Contains(strings.ReplaceAll(page, "**", ""), want) {
				t.Errorf("%s lacks %q: %s", format, want, page)
			}
		}
		if page := render(format, stays, tie, missing); strings.Contains(page, "settings only") || !strings.Contains(page, "the deciding comparison has the same verdict at 1 other setting") {
			t.Errorf("%s: %s", format, page)
		}
	}
	if page := render(write.CSV, reversed); !strings.Contains(page, "load.batch-size=500 in place of 1000") || strings.Count(page, "true") != 2 {
		t.Error(page)
	}
	if page := render(write.JSON, reversed); !strings.Contains(page, `"settings_only": true`) || !strings.Contains(page, `"reverses": true`) {
		t.Error(page)
	}
}
