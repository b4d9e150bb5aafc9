package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// repeatedRuns returns runs of a target with every kind of outcome: types that
// are slower by a factor, alike, cut off, and not supported.
func repeatedRuns(seed uint64, n int, slower float64) compare.Side {
	r := rand.New(rand.NewPCG(seed, 3))
	queriesOf := func(name string, count int, median float64) result.Queries {
		q := result.Queries{Type: name, Verdict: result.Verdict{Checked: 10, Rows: 10}, Each: make([]float64, count),
			Service: result.Latency{Summary: measure.Summary{Count: int64(count)}}}
		repeat := 0.01 * r.NormFloat64()
		for i := range q.Each {
			q.Each[i] = median * math.Exp(0.2*math.Sin(float64(i))+0.02*r.NormFloat64()+repeat)
		}
		return q
	}
	var s compare.Side
	for i := range n {
		t := result.Target{Name: "duck", Driver: "duckdb", Queries: []result.Queries{
			queriesOf("single-groupby-1-1-1", 300, 0.001*slower), queriesOf("cpu-max-all-1", 200, 0.003), queriesOf("double-groupby-all", 80, 0.4),
			queriesOf("high-cpu-1", 100, 0.002), queriesOf("lastpoint", 100, 0.004),
		}}
		if slower > 1 {
			for j := range t.Queries[2].Each {
				t.Queries[2].Each[j] = -1 // cut off after a second
			}
		}
		t.Queries[4] = result.Queries{Type: "lastpoint", Unsupported: "the dialect has no such query"}
		t.Load = &result.Load{Rows: 1e6, Sent: slower * (1 + 0.01*r.NormFloat64()), Settled: 2 * slower * (1 + 0.01*r.NormFloat64()), DiskBytes: int64(4e7 * slower)}
		if i == 2 {
			t.Load.Settled *= 2
		}
		t.Repeats = []result.Repeat{{Number: 1, Load: t.Load, Queries: t.Queries}}
		s.Runs = append(s.Runs, &result.Run{ID: fmt.Sprintf("20260131-15450%d-%04d", i, seed), Status: result.Complete, Started: started.Add(time.Duration(i)),
			Dataset: result.Dataset{Fingerprint: "f"}, Targets: []result.Target{t}})
	}
	return s
}

// wrong returns runs, one with a wrong answer.
func wrong(s compare.Side) compare.Side {
	q := &s.Runs[0].Targets[0].Repeats[0].Queries[3]
	q.Withheld = "query 4: 17 rows in the answer, 18 expected"
	q.Verdict.Difference = q.Withheld
	return s
}

func TestComparisonGolden(t *testing.T) {
	for file, sides := range map[string][2]compare.Side{
		"compare-six.txt":   {repeatedRuns(1, 6, 1), repeatedRuns(2, 6, 1.08)},
		"compare-one.txt":   {repeatedRuns(1, 1, 1), repeatedRuns(2, 1, 1.08)},
		"compare-wrong.txt": {repeatedRuns(1, 6, 1), wrong(repeatedRuns(2, 6, 1.08))},
	} {
		t.Run(file, func(t *testing.T) {
			c, err := compare.Runs(sides[0], sides[1], compare.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := comparison.Write(&out, write.Text, c, write.Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, file, out.String())
			if strings.Contains(out.String(), "\x1b") {
				t.Error("colours without a terminal")
			}
			var coloured bytes.Buffer
			if err := comparison.Write(&coloured, write.Text, c, write.Options{Color: true}); err != nil || !strings.Contains(coloured.String(), "\x1b[") {
				t.Errorf("no colours: %v", err)
			}
			if err := comparison.Write(full{}, write.Text, c, write.Options{}); err == nil || !strings.HasPrefix(err.Error(), "writing the comparison: ") {
				t.Errorf("a full disk: %v", err)
			}
		})
	}
}

// Beside the report of a run, a comparison has rows for differences alone, and lines for all other figures.
func TestFoldedComparison(t *testing.T) {
	for file, sides := range map[string][2]compare.Side{
		"compare-folded.txt":      {repeatedRuns(1, 6, 1), repeatedRuns(2, 6, 1.08)},
		"compare-folded-same.txt": {repeatedRuns(1, 6, 1), repeatedRuns(2, 6, 1)},
		"compare-folded-one.txt":  {repeatedRuns(1, 1, 1), repeatedRuns(2, 1, 1.08)},
	} {
		c, err := compare.Runs(sides[0], sides[1], compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := comparison.WriteFolded(&out, c, write.Options{}, "tsmark compare shows all figures."); err != nil {
			t.Fatal(err)
		}
		golden(t, file, out.String())
	}
}

// The other formats say the same: Markdown in its tables, CSV in every figure,
// and a page with the ratios drawn.
func TestComparisonFormats(t *testing.T) {
	c, err := compare.Runs(repeatedRuns(1, 6, 1), repeatedRuns(2, 6, 1.08), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	written := func(format write.Format) string {
		var out bytes.Buffer
		if err := comparison.Write(&out, format, c, write.Options{}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	golden(t, "compare-six.md", written(write.Markdown))
	golden(t, "compare-six.csv", written(write.CSV))
	var again compare.Comparison
	if err := json.Unmarshal([]byte(written(write.JSON)), &again); err != nil || len(again.Targets) != 1 || len(again.Targets[0].Figures) != len(c.Targets[0].Figures) {
		t.Errorf("JSON: error %v, %d targets", err, len(again.Targets))
	}
	page := written(write.HTML)
	p := parse(t, page)
	for _, view := range comparison.Tables(&c.Targets[0]) {
		for _, r := range view.Rows {
			for _, cell := range append(r.Cells, r.Remark) {
				if !strings.Contains(p.text, cell.Text) {
					t.Errorf("the page does not show %q", cell.Text)
				}
			}
		}
	}
	for _, link := range p.links {
		if !strings.HasPrefix(link, "#") && link != "data:," {
			t.Errorf("the page loads or leads to %s", link)
		}
	}
	// Of the types one is not supported: the others are drawn by their medians and their
	// geometric mean, the cut-off one as a bound.
	if dots := strings.Count(page, `<g class="s`); dots != 5+3+3 {
		t.Errorf("%d ratios are drawn", dots)
	}
	if err := comparison.Write(io.Discard, "pdf", c, write.Options{}); err == nil {
		t.Error("a format that does not exist was written")
	}
}

// A comparison begins, in every format, with the faster target and the factor, which
// match its tables; a difference that may be chance has no winner and no colour.
func TestComparisonHeadline(t *testing.T) {
	for name, c := range map[string]struct {
		a, b    compare.Side
		answers string
		tones   []format.Tone
	}{
		"slower": {repeatedRuns(1, 6, 1), repeatedRuns(2, 6, 1.08), "A ≥1.28× faster than B (≥1.266–≥1.284) over 4 query types / By query type: B slower in 2, no difference shown in 2, not compared in 1 / Load: no difference shown between A and B (0.463–1.841, 99.57 %)",
			[]format.Tone{format.ToneBad, format.TonePlain, format.TonePlain}},
		"faster": {repeatedRuns(2, 6, 1.08), repeatedRuns(1, 6, 1), "B ≥1.28× faster than A (≥1.266–≥1.284) over 4 query types / By query type: B faster in 2, no difference shown in 2, not compared in 1 / Load: no difference shown between A and B (0.543–2.158, 99.57 %)",
			[]format.Tone{format.ToneBest, format.TonePlain, format.TonePlain}},
		"alike":      {repeatedRuns(1, 6, 1), repeatedRuns(3, 6, 1), "No difference shown between A and B over 4 query types", []format.Tone{format.TonePlain, format.TonePlain, format.TonePlain}},
		"one repeat": {repeatedRuns(1, 1, 1), repeatedRuns(2, 1, 1.08), "No verdict between A and B over 4 query types: too few repeats / By query type: no verdict in 4, not compared in 1 / Load: no verdict between A and B: one repeat", []format.Tone{format.TonePlain, format.TonePlain, format.TonePlain}},
	} {
		compared, err := compare.Runs(c.a, c.b, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h := comparison.Headlines(compared)[0]
		var texts []string
		for i, a := range h.Answers {
			if texts = append(texts, a.Text); a.Tone != c.tones[i] {
				t.Errorf("%s: %q is %q, want %q", name, a.Text, a.Tone, c.tones[i])
			}
		}
		if !strings.HasPrefix(strings.Join(texts, " / "), c.answers) {
			t.Errorf("%s: %q, want %q", name, strings.Join(texts, " / "), c.answers)
		}
		for _, format := range []write.Format{write.Text, write.Markdown, write.HTML, write.JSON} {
			var out bytes.Buffer
			if err := comparison.Write(&out, format, compared, write.Options{Width: 1000}); err != nil {
				t.Fatal(err)
			}
			shown := out.String()
			if _, body, ok := strings.Cut(shown, "<h1"); ok {
				shown = body
			}
			at := strings.Index(shown, removeMarkup(texts[0], format))
			if first := strings.Index(shown, compared.A.Runs[0]); at < 0 || first < at {
				t.Errorf("%s: %s does not begin with %q", name, format, texts[0])
			}
		}
		var csv bytes.Buffer
		if err := comparison.Write(&csv, write.CSV, compared, write.Options{}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(csv.String(), "\n"); !strings.HasPrefix(lines[1], "duck,duck,all types,geomean,") {
			t.Errorf("%s: CSV begins with %q", name, lines[1])
		}
	}
	// Runs on different machines have no winner, even if the comparison is requested; targets of other
	// names have them.
	a, b := repeatedRuns(1, 6, 1), repeatedRuns(2, 6, 1.08)
	for _, r := range b.Runs {
		r.Host.Cores, r.Targets[0].Name = 64, "drake"
	}
	c, err := compare.Runs(a, b, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	terms := doc.Bad("Not measured under the same terms: host: server elsewhere (A), 64 cores; server elsewhere (B)")
	h := comparison.Headlines(c)[0]
	if got := h.Answers[0]; got.Text != "No verdict between duck (A) and drake (B) over 4 query types: host: server elsewhere (A), 64 cores; server elsewhere (B)" || got.Tone != format.TonePlain || !slices.Contains(h.Answers, terms) {
		t.Errorf("on another machine: %q", h.Answers)
	}
	if c, err = compare.Runs(a, b, compare.Options{Different: true}); err != nil {
		t.Fatal(err)
	}
	h = comparison.Headlines(c)[0]
	if got := h.Answers[0]; !strings.HasPrefix(got.Text, "duck (A) ≥1.28× faster than drake (B) (") || got.Tone != format.TonePlain || !slices.Contains(h.Answers, terms) {
		t.Errorf("on another machine, as it is wanted: %q", h.Answers)
	}
	// Wrong answers come first.
	if c, err = compare.Runs(repeatedRuns(1, 6, 1), wrong(repeatedRuns(2, 6, 1.08)), compare.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := comparison.Headlines(c)[0].Answers; got[0] != (doc.Bad("B is not ranked: wrong answers in high-cpu-1")) || slices.ContainsFunc(got, func(n doc.Span) bool { return strings.Contains(n.Text, "aster") || n.Tone == format.ToneBest }) {
		t.Errorf("wrong answers: %q", got)
	}
}

// Positions lie within the chart, equal changes up and down equally far from
// its middle.
func TestRatios(t *testing.T) {
	figure := func(ratio float64, lo, hi stats.Value) *compare.Figure {
		return &compare.Figure{Subject: "q", Verdict: compare.Slower, Comparison: stats.Comparison{
			Ratio: stats.Value{Figure: ratio}, Interval: &stats.Interval{Lo: lo, Hi: hi, Level: 0.95}}}
	}
	exact := func(v float64) stats.Value { return stats.Value{Figure: v} }
	r := comparison.NewRatios([]*compare.Figure{
		figure(2, exact(1.9), stats.Value{Figure: 2.1, Bound: stats.AtLeast}), figure(0.5, exact(0.4), exact(0.6)),
		{Verdict: compare.NotCompared},
	})
	// The largest change, to 1/2.5, rounds up to 1 + 2.
	track := func(i int) chart.Track { return r.Rows[i].Tracks[0] }
	if format.CSSPercent(track(0).At) != "81.55%" || format.CSSPercent(track(1).At) != "18.45%" || track(0).Strokes[0].To != 1 || len(r.Rows) != 2 || r.Ticks[2].At != 0.5 || r.Ticks[4].Label != "×3" {
		t.Errorf("%+v", r)
	}
	if comparison.NewRatios([]*compare.Figure{{Verdict: compare.NotCompared}}) != nil {
		t.Error("a chart without ratios")
	}
}
