package report_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/runchart"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// agreeing is a run of three targets in six rounds of other queries each, in
// which they get differently far, and in six loads: a and b are alike, c is
// slower in some types, and a type was run with gaps.
func agreeing(t *testing.T, rounds int) *result.Run {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 5))
	run := &result.Run{ID: "20260131-154500-aaaa", Name: "agree", Status: result.Complete, Started: started, Dataset: result.Dataset{Fingerprint: "f", Rows: 1e6, RawBytes: 1e9}}
	for _, name := range []string{"a", "b", "c"} {
		run.Targets = append(run.Targets, result.Target{Name: name, Driver: "duckdb"})
	}
	const types, block = 5, 40
	for n := range rounds {
		for i := range run.Targets {
			slower := []float64{1, 1.003, 1.3}[i]
			run.Targets[i].RepeatOf(n + 1).Load = &result.Load{Rows: 1e6, Metrics: 1e7, Workers: 1, BatchSize: 1000, Sent: slower, Acked: 1.1 * slower * (1 + 0.01*r.Float64()),
				Settled: 1.2 * slower * (1 + 0.02*r.Float64()), DiskBytes: int64(1e7 * (1 + 0.01*r.Float64()))}
		}
		for kind := range types {
			cost := make([]float64, block)
			for j := range cost {
				cost[j] = 0.001 * math.Exp(float64(kind)+0.3*r.NormFloat64())
			}
			for i := range run.Targets {
				got := block - []int{0, 7, 19}[(i+kind)%3]
				l, each := measure.NewLatency(), make([]float64, got)
				for j := range each {
					if j%9 == 3 && kind == 2 && i == 0 {
						continue // not recorded
					}
					each[j] = cost[j] * math.Exp(0.1*r.NormFloat64())
					if i == 2 && kind != 3 {
						each[j] *= 1.8
					}
					l.Record(secondsOf(each[j]))
				}
				encoded, err := l.Encode()
				if err != nil {
					t.Fatal(err)
				}
				repeat := run.Targets[i].RepeatOf(n + 1)
				repeat.Queries = append(repeat.Queries, result.Queries{
					Type: fmt.Sprintf("type-%d", kind), Verdict: result.Verdict{Checked: 10, Rows: 10}, Workers: 1, Executed: int64(got), Distinct: 1000,
					First: n * block, Each: each, Wall: 1, PerSecond: float64(got), Service: result.Latency{Summary: l.Summary(), Histogram: encoded},
				})
			}
		}
	}
	for i := range run.Targets {
		pooled, err := run.Targets[i].Pool()
		if err != nil {
			t.Fatal(err)
		}
		run.Targets[i] = pooled
	}
	return run
}

// outputText is an output's text about a type (or the load) of a target. It is empty for a missing
// entry.
type outputText struct{ median, low, high, times string }

// All outputs of a run show the same values for each type and target: text, Markdown
// and HTML to the digits that they show; CSV, JSON and tsmark compare exactly.
// Each estimate lies within its own interval.
func TestOutputsAgree(t *testing.T) {
	for _, rounds := range []int{6, 1} {
		t.Run(fmt.Sprint(rounds, " rounds"), func(t *testing.T) { outputsAgree(t, agreeing(t, rounds)) })
	}
}

func outputsAgree(t *testing.T, run *result.Run) {
	exact := fromJSON(t, run)
	if len(exact) != 3*(5+1) {
		t.Fatalf("JSON has %d figures", len(exact))
	}
	if len(run.Targets[0].Repeats) == 1 { // otherwise nothing shows the format of such a figure
		without := 0
		for key, f := range exact {
			if f.High == 0 && !strings.HasSuffix(key, " "+compare.LoadSubject) {
				without++
			}
		}
		if without == 0 || without == 3*5 {
			t.Fatalf("%d figures of %d have no interval", without, 3*5)
		}
	}
	inCSV := fromCSV(t, run)
	overallAgrees(t, run, inCSV)
	for key, f := range inCSV {
		if strings.HasSuffix(key, " "+compare.AllTypes) {
			continue
		}
		if want := exact[key]; f != want.round() {
			t.Errorf("CSV: %s is %+v, JSON has %+v", key, f, want.round())
		}
	}
	markdown, text, page := render(t, write.Markdown, write.Options{}, run), render(t, write.Text, write.Options{Verbose: true, Width: 1000}, run), parse(t, render(t, write.HTML, write.Options{}, run)).text
	html := render(t, write.HTML, write.Options{}, run)
	for key, f := range exact {
		target, subject, _ := strings.Cut(key, " ")
		shown := outputText{median: format.Duration(f.Median), low: format.Duration(f.Low), high: format.Duration(f.High)}
		if subject == compare.LoadSubject {
			shown = outputText{median: format.Digits(f.Median), low: format.Digits(f.Low), high: format.Digits(f.High)}
		}
		if f.High > 0 {
			if f.Median < f.Low || f.Median > f.High {
				t.Errorf("%s: %v lies outside its interval %v to %v", key, f.Median, f.Low, f.High)
			}
		} else if len(run.Targets[0].Repeats) > 1 {
			t.Errorf("%s has no interval", key)
		}
		shown.times = f.times()
		interval := shown.low + "–" + shown.high
		for name, lines := range map[string]func(string) [][]string{
			"text":     func(title string) [][]string { return textTable(text, title) },
			"Markdown": func(title string) [][]string { return markdownTable(markdown, title) },
		} {
			own := "Queries: " + target
			row := subject
			if subject == compare.LoadSubject {
				own, row = "Load", target
			}
			line := find(lines(own), row)
			if !slices.Contains(line, removeSpaces(shown.median)) || slices.Contains(line, removeSpaces(interval)) != (f.High > 0) {
				t.Errorf("%s: %s: %q lacks %s or %s, or has an interval that is not known", name, key, line, shown.median, interval)
			}
			if subject == compare.LoadSubject {
				row = "load, settled rows/s"
			}
			line = find(lines("Comparison"), row)
			at := 1 + 2*int(target[0]-'a')
			if len(line) < at+2 || line[at] != removeSpaces(shown.median) || line[at+1] != removeSpaces(shown.times) {
				t.Errorf("%s: comparison of %s: %q, want %s and %s", name, key, line, shown.median, shown.times)
			}
		}
		if !strings.Contains(page, shown.median) || !strings.Contains(page, strings.TrimPrefix(shown.times, rank.ChanceMark)) {
			t.Errorf("HTML lacks %s or %s of %s", shown.median, shown.times, key)
		}
	}
	chartAgrees(t, html, run, exact)
	comparesAgree(t, run, exact)
}

// stated is the JSON of a type and target.
type stated struct {
	Median, Low, High        float64
	Against                  string
	Ratio, RatioLow, RatioHi float64
	Verdict                  string
	queries, rounds, types   int
}

// round rounds the figures to the digits of CSV.
func (f stated) round() stated {
	for _, v := range []*float64{&f.Median, &f.Low, &f.High, &f.Ratio, &f.RatioLow, &f.RatioHi} {
		*v, _ = strconv.ParseFloat(strconv.FormatFloat(*v, 'g', 9, 64), 64)
	}
	return f
}

// times is the cell beside a figure.
func (f stated) times() string {
	switch {
	case f.Verdict == "best":
		return format.Ratio(1)
	case f.Against == "" && f.Verdict == rank.Tie:
		return rank.ChanceMark + format.Ratio(1)
	case f.Against == "":
		return strings.TrimPrefix(f.Verdict, "no verdict: ")
	case f.Verdict == "worse":
		return format.Ratio(f.Ratio)
	case f.Ratio < 1.005 && f.Verdict != rank.Tie:
		return strings.TrimPrefix(f.Verdict, "no verdict: ")
	}
	return rank.ChanceMark + format.Ratio(f.Ratio)
}

func fromJSON(t *testing.T, run *result.Run) map[string]stated {
	t.Helper()
	var runs []report.RunJSON
	if err := json.Unmarshal([]byte(render(t, write.JSON, write.Options{}, run)), &runs); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]stated)
	for _, f := range runs[0].Figures {
		one := stated{Median: f.Median.Figure, Against: f.Against, Verdict: f.Verdict, queries: f.Common, rounds: f.Rounds}
		if f.Interval != nil {
			one.Low, one.High = f.Interval.Lo.Figure, f.Interval.Hi.Figure
		}
		if f.Ratio != nil {
			one.Ratio = f.Ratio.Figure
		}
		if f.RatioInterval != nil {
			one.RatioLow, one.RatioHi = f.RatioInterval.Lo.Figure, f.RatioInterval.Hi.Figure
		}
		all[f.Target+" "+f.Subject] = one
	}
	return all
}

func fromCSV(t *testing.T, run *result.Run) map[string]stated {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(render(t, write.CSV, write.Options{}, run))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]stated)
	for _, line := range lines[1:] {
		text := func(column string) string { return line[slices.Index(lines[0], column)] }
		number := func(column string) float64 {
			v, _ := strconv.ParseFloat(text(column), 64)
			return v
		}
		f := stated{Median: number("median"), Low: number("interval_low"), High: number("interval_high"), Against: text("against"),
			Ratio: number("ratio"), RatioLow: number("ratio_low"), RatioHi: number("ratio_high"), Verdict: text("comparison"),
			queries: int(number("common")), rounds: int(number("rounds"))}
		subject := text("type")
		switch text("kind") {
		case "load":
			subject, f.Median = compare.LoadSubject, number("rate")
		case "overall":
			subject, f.types = compare.AllTypes, int(number("types"))
		}
		all[text("target")+" "+subject] = f
	}
	return all
}

// overallAgrees holds the lines of CSV about all query types, the headline, its
// bars and chart, the table of winners, JSON and tsmark compare to each other.
func overallAgrees(t *testing.T, run *result.Run, inCSV map[string]stated) {
	t.Helper()
	g := rank.NewGroup(run)
	h := rank.NewHeadline(g)
	chart := runchart.Relative(g, h, chart.NewLegend(g.Labels()))
	var runs []report.RunJSON
	if err := json.Unmarshal([]byte(render(t, write.JSON, write.Options{}, run)), &runs); err != nil {
		t.Fatal(err)
	}
	text, page := render(t, write.Text, write.Options{Verbose: true, Width: 1000}, run), parse(t, render(t, write.HTML, write.Options{}, run)).text
	if len(h.Queries.Places) != 3 || len(runs[0].Headline.Queries) != 3 {
		t.Fatalf("%d places, in JSON %d", len(h.Queries.Places), len(runs[0].Headline.Queries))
	}
	first := h.Queries.Places[0].Label
	for n, p := range h.Queries.Places {
		line, listed, track := inCSV[p.Label+" "+compare.AllTypes], runs[0].Headline.Queries[n], chart.Rows[0].Tracks[n]
		want := stated{Verdict: p.Verdict, rounds: len(run.Targets[0].Repeats), types: 5}
		if n > 0 {
			side := func(name string) compare.Side { return compare.Side{Runs: []*result.Run{run}, Target: name} }
			c, err := compare.Runs(side(first), side(p.Label), compare.Options{})
			if err != nil {
				t.Fatal(err)
			}
			figures := c.Targets[0].Figures
			f := figures[slices.IndexFunc(figures, func(f compare.Figure) bool { return f.Metric == compare.GeoMean })]
			if f.Significant() && f.Ratio.Figure > 1 != (p.Verdict == "worse") || !f.Significant() && (p.Verdict == "worse" || p.Tone != format.ToneDim || !track.Pale || !listed.Chance) {
				t.Errorf("%s: compare says %s, the headline %q, %q", p.Label, f.Verdict, p.Verdict, p.Text)
			}
			want.Against, want.Ratio = first, f.Ratio.Figure
			if f.Interval != nil {
				want.RatioLow, want.RatioHi = f.Interval.Lo.Figure, f.Interval.Hi.Figure
			}
			if want.times() != strings.Split(p.Text, " (")[0] || !strings.Contains(text, format.Times(f.Ratio)) && len(run.Targets[0].Repeats) > 1 {
				t.Errorf("%s: %q, compare says %s times", p.Label, p.Text, format.Times(f.Ratio))
			}
		}
		if line != want.round() {
			t.Errorf("CSV: %s over all types is %+v, compare says %+v", p.Label, line, want.round())
		}
		if listed.Target != p.Label || listed.Verdict != line.Verdict || n > 0 && listed.Times != want.Ratio || strings.TrimSpace(track.Text+" "+track.Beside) != p.Text+p.Within || !strings.Contains(page, strings.TrimPrefix(p.Text, rank.ChanceMark)+p.Within) || !strings.Contains(text, "  "+p.Text+p.Within+"\n") {
			t.Errorf("%s: JSON has %+v, the chart %q, the bar %q", p.Label, listed, track.Text, p.Text)
		}
	}
}

var gaps = regexp.MustCompile(`  +`)

// textTable returns the rows of a table in text.
func textTable(text, title string) (rows [][]string) {
	_, rest, _ := strings.Cut(text, "\n\n"+title)
	_, rest, _ = strings.Cut(rest, "\n")
	for line := range strings.SplitSeq(rest, "\n") {
		if line == "" {
			break
		}
		rows = append(rows, gaps.Split(line, -1))
		for i, c := range rows[len(rows)-1] {
			rows[len(rows)-1][i] = removeSpaces(c)
		}
	}
	return rows
}

// markdownTable returns the rows of a table in Markdown, as text.
func markdownTable(text, title string) (rows [][]string) {
	_, rest, _ := strings.Cut(text, "\n## "+title)
	rest, _, _ = strings.Cut(rest, "\n## ")
	for line := range strings.SplitSeq(rest, "\n") {
		var cells []string
		for c := range strings.SplitSeq(strings.Trim(line, "| "), " | ") {
			cells = append(cells, removeSpaces(strings.NewReplacer("**", "", `\`, "").Replace(c)))
		}
		rows = append(rows, cells)
	}
	return rows
}

// removeSpaces removes the spaces of a cell, which renderers set differently.
func removeSpaces(s string) string {
	return strings.NewReplacer(" ", "", format.UnitSpace, "").Replace(s)
}

func find(rows [][]string, name string) []string {
	at := slices.IndexFunc(rows, func(r []string) bool { return r[0] == removeSpaces(name) })
	if at < 0 {
		return nil
	}
	return rows[at]
}

// chartAgrees holds the markers of the latency chart to the figures: their
// labels, and their places, which all lie on one logarithmic axis.
func chartAgrees(t *testing.T, page string, run *result.Run, exact map[string]stated) {
	t.Helper()
	g := rank.NewGroup(run)
	drawing := runchart.Ranges(g, chart.NewLegend(g.Labels()))
	type place struct{ at, log float64 }
	var places []place
	for _, row := range drawing.Rows {
		for i, track := range row.Tracks {
			f := exact[g.Subjects[i].Label+" "+row.Label]
			at := format.CSSPercent(track.At)
			if !track.Marker || track.Text != format.Duration(f.Median) || !strings.Contains(page, `<svg x="`+at+`" overflow="visible">`) || track.Bar != track.At {
				t.Errorf("%s of %s: marker at %s, label %s, want %s", row.Label, g.Subjects[i].Label, at, track.Text, format.Duration(f.Median))
				continue
			}
			if strings.Contains(track.Hint, format.Duration(f.Low)+"–"+format.Duration(f.High)) != (f.High > 0) || strings.Contains(track.Hint, "–") != (f.High > 0) {
				t.Errorf("the hint %q lacks the interval, or has one that is not known", track.Hint)
			}
			places = append(places, place{at: 100 * track.At, log: math.Log(f.Median)})
		}
	}
	first, last := places[0], places[len(places)-1]
	for _, p := range places {
		want := first.at + (last.at-first.at)*(p.log-first.log)/(last.log-first.log)
		if math.Abs(p.at-want) > 0.05 {
			t.Errorf("a marker at %v %%, want %v %%", p.at, want)
		}
	}
	for _, bar := range runchart.Bars(g, chart.NewLegend(g.Labels())).Rows {
		for i, track := range bar.Tracks {
			if want := format.Digits(exact[g.Subjects[i].Label+" "+compare.LoadSubject].Median); bar.Label == "Rows/s settled" && track.Text != want {
				t.Errorf("the bar of %s says %s, want %s", g.Subjects[i].Label, track.Text, want)
			}
		}
	}
}

// comparesAgree holds tsmark compare RUN:x RUN:y to the run's own report.
func comparesAgree(t *testing.T, run *result.Run, exact map[string]stated) {
	t.Helper()
	for _, pair := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "c"}, {"c", "b"}} {
		side := func(name string) compare.Side { return compare.Side{Runs: []*result.Run{run}, Target: name} }
		c, err := compare.Runs(side(pair[0]), side(pair[1]), compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range c.Targets[0].Figures {
			if f.Metric != compare.Median && f.Metric != compare.Load {
				continue
			}
			a, b := exact[pair[0]+" "+f.Subject], exact[pair[1]+" "+f.Subject]
			if f.A.Median.Figure != a.Median || f.B.Median.Figure != b.Median || f.Metric == compare.Median && f.Queries != a.queries {
				t.Errorf("%v: %s %v and %v, the report has %v and %v", pair, f.Subject, f.A.Median, f.B.Median, a.Median, b.Median)
			}
			for _, side := range []struct {
				has  *stats.Interval
				want stated
			}{{f.A.Interval, a}, {f.B.Interval, b}} {
				if (side.has != nil) != (side.want.High > 0) || side.has != nil && (side.has.Lo.Figure != side.want.Low || side.has.Hi.Figure != side.want.High) {
					t.Errorf("%v: %s lies in %+v, the report has %v to %v", pair, f.Subject, side.has, side.want.Low, side.want.High)
				}
			}
			worse, against := b, pair[0]
			if f.Metric == compare.Load {
				worse, against = a, pair[1]
			}
			if worse.Against == against && f.Ratio.Figure != worse.Ratio {
				t.Errorf("%v: %s is %v times, the report has %v", pair, f.Subject, f.Ratio, worse.Ratio)
			}
			if worse.Against == against && f.Significant() != (worse.Verdict == "worse") {
				t.Errorf("%v: %s: %s, the report has %s", pair, f.Subject, f.Verdict, worse.Verdict)
			}
		}
	}
}

// A target without a proven difference is never shown as the best: not in bold, not in
// green, not 1.00×, not faster.
func TestTiesAreNowhereBest(t *testing.T) {
	for name, run := range map[string]*result.Run{"alike": agreeing(t, 6), "one round": agreeing(t, 1)} {
		run.Targets = run.Targets[:2] // the targets that are alike
		for key, f := range fromJSON(t, run) {
			if f.Verdict != rank.Tie && !strings.HasPrefix(f.Verdict, "no verdict: ") {
				t.Fatalf("%s: %s is %s: the fixture has to be alike", name, key, f.Verdict)
			}
		}
		text := strings.Replace(render(t, write.Text, write.Options{Verbose: true, Color: true, Width: 1000}, run), "\x1b[1;32mcomplete", "", 1)
		_, compared, _ := strings.Cut(text, "Comparison")
		page, _, _ := strings.Cut(render(t, write.HTML, write.Options{}, run), `id="reading"`)
		for what, bad := range map[string]bool{
			"text":     strings.Contains(text, "1;32") || strings.Contains(strings.ReplaceAll(text, "~1.00×", ""), "1.00×"),
			"loads":    strings.Contains(strings.Join(strings.Fields(text[:strings.Index(text, "Comparison")]), " "), "\x1b[1;32m8"),
			"Markdown": strings.Contains(render(t, write.Markdown, write.Options{}, run), "**1.00"),
			"HTML":     regexp.MustCompile(`class="[a-z ]*best"|>1\.00×( <small>[^<]*</small>)?</`).MatchString(strings.Replace(page, `<span class="badge best">complete`, "", 2)),
			"SVG":      strings.Contains(strings.ReplaceAll(textOf(t, render(t, write.SVG, write.Options{}, run)), "~1.00×", ""), "1.00×"),
			"CSV":      strings.Contains(render(t, write.CSV, write.Options{}, run), ",best,"),
			"words":    strings.Contains(compared, "a faster") || strings.Contains(compared, "b faster"),
		} {
			if bad {
				t.Errorf("%s: %s names a best one", name, what)
			}
		}
	}
}

// What the head of a report says of rounds, its end says too; what a table says of the rows that were
// read back is true of all loads, and not of that with the median rate.
func TestRepeatsAgree(t *testing.T) {
	run := agreeing(t, 6)
	for i := range run.Targets {
		of := &run.Targets[i]
		for n := range of.Repeats {
			census := result.CensusResult{Table: "cpu", Expected: 1e6, Counted: 1e6, Contents: &result.Contents{Fields: []result.Compared{{By: "count", Fields: 1}}, Series: 1, Rows: 100}}
			switch n {
			case 0:
				census.Contents.Rows = 1000
			case 1:
				census.Contents.RowsUnread = "no answer"
			}
			of.Repeats[n].Load.Census = []result.CensusResult{census}
			if n >= 3 {
				of.Repeats[n].Queries = of.Repeats[n].Queries[1:]
			}
		}
		of.Queries, of.Load = nil, nil
		pooled, err := of.Pool()
		if err != nil {
			t.Fatal(err)
		}
		*of = pooled
	}
	text := render(t, write.Text, write.Options{Width: 400, Verbose: true}, run)
	for _, want := range []string{
		"· 3 to 6 rounds, 6 loads ·", "\n3 to 6 rounds of the queries, 6 loads. ",
		"a: contents verified: 1 table, 1 field by count; tags of 1 series; 100 to 1,000 whole rows drawn at random after each load;",
		"a: whole rows of table cpu were not read back: no answer",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}
