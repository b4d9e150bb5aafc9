package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

var update = flag.Bool("update", false, "write the golden files")

func render(t *testing.T, format write.Format, opts write.Options, runs ...*result.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, format, runs, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares a text with the one kept in testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run the tests with -update and review the change (-want +got):\n%s", diff)
	}
}

func TestGolden(t *testing.T) {
	complete, killed := fixture(t)
	for _, c := range []struct {
		file   string
		format write.Format
		opts   write.Options
		runs   []*result.Run
	}{
		{"complete.txt", write.Text, write.Options{Verbose: true}, []*result.Run{complete}},
		{"brief-80.txt", write.Text, write.Options{Width: 80}, []*result.Run{complete}},
		{"brief-160.txt", write.Text, write.Options{Width: 160}, []*result.Run{complete}},
		{"complete-narrow.txt", write.Text, write.Options{Verbose: true, Width: 72}, []*result.Run{complete}},
		{"complete-color.txt", write.Text, write.Options{Verbose: true, Color: true}, []*result.Run{complete}},
		{"both.txt", write.Text, write.Options{Verbose: true}, []*result.Run{complete, killed}},
		{"both.md", write.Markdown, write.Options{}, []*result.Run{complete, killed}},
		{"both.csv", write.CSV, write.Options{}, []*result.Run{complete, killed}},
	} {
		t.Run(c.file, func(t *testing.T) {
			golden(t, c.file, render(t, c.format, c.opts, c.runs...))
		})
	}
}

func TestTextFits(t *testing.T) {
	complete, killed := fixture(t)
	for _, width := range []int{72, 100, 110, 200} {
		for _, line := range strings.Split(render(t, write.Text, write.Options{Verbose: true, Width: width}, complete, killed), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{format.Digits(0), "0"},
		{format.Digits(1234567), "1,230,000"},
		{format.Digits(999.7), "1,000"},
		{format.Digits(99.96), "100"},
		{format.Digits(1.005), "1.00"},
		{format.Digits(0.012345), "0.0123"},
		{format.Digits(math.NaN()), format.None},
		{format.Digits(-1234), "-1,230"},
		{format.Number(60), "60"},
		{format.Number(1234567), "1,234,567"},
		{format.Number(1.5), "1.50"},
		{format.Count(-999), "-999"},
		{format.Count(-1000), "-1,000"},
		{format.Duration(0), "0 s"},
		{format.Duration(85e-9), "85.0 ns"},
		{format.Duration(999.6e-9), "1.00 µs"},
		{format.Duration(1e-3), "1.00 ms"},
		{format.Duration(0.9996), "1.00 s"},
		{format.Duration(0.0123456), "12.3 ms"},
		{format.Duration(4321), "4,320 s"},
		{format.Size(0), "0 B"},
		{format.Size(1023), "1,023 B"},
		{format.Size(1 << 20), "1.00 MiB"},
		{format.Size(1 << 30), "1.00 GiB"},
		{format.Size(3_120_450_000), "2.91 GiB"},
		{format.Ratio(3.714), "3.71×"},
		{format.ElapsedTime(192 * time.Second), "3m12s"},
		{format.ElapsedTime(1500 * time.Millisecond), "1.50 s"},
	} {
		if got := strings.ReplaceAll(c.got, format.UnitSpace, " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestWithheldFiguresAppearNowhere(t *testing.T) {
	complete, _ := fixture(t)
	wrong := &complete.Targets[0].Queries[4]
	wrong.Service.Median, wrong.Service.P99 = 123.456, 123.456
	complete.Targets[1].Load.Withheld = "rows were lost"
	complete.Targets[1].Load.Sent = 0.0123456789
	for _, as := range []write.Format{write.Text, write.Markdown, write.CSV, write.HTML} {
		out := render(t, as, write.Options{Verbose: true, Width: 1000}, complete)
		for _, figure := range []string{"123.456", "123" + format.UnitSpace + "s", "123s", "0.0123456789"} {
			if strings.Contains(out, figure) {
				t.Errorf("%s shows the withheld figure %s", as, figure)
			}
		}
		for _, reason := range []string{wrong.Withheld, "row 17", "rows were lost"} {
			if !strings.Contains(out, reason) {
				t.Errorf("%s does not say %q", as, reason)
			}
		}
	}
}

func TestWhoWins(t *testing.T) {
	complete, _ := fixture(t)
	one := rank.TypeRow(rank.NewGroup(complete), "high-cpu-1").Cells
	if one[1].Tone != format.ToneBad || one[3].Tone != format.TonePlain || one[4].Text != "" {
		t.Errorf("one wrong: nothing to compare: %+v", one)
	}
	withoutWithheld(&complete.Targets[0])
	g := rank.NewGroup(complete)
	for _, queryType := range []string{"single-groupby-1-1-1", "single-groupby-5-8-1", "double-groupby-all"} {
		r := rank.TypeRow(g, queryType)
		if r.Cells[1].Tone != format.TonePlain || r.Cells[3].Tone != format.TonePlain || r.Cells[2].Text != rank.OneRound && r.Cells[4].Text != rank.OneRound {
			t.Errorf("%s, run in one round: %+v", queryType, r.Cells)
		}
	}
	if r, _ := rank.LoadRow(g); r.Cells[1].Tone != format.TonePlain || r.Cells[3].Tone != format.TonePlain || r.Cells[4].Text != rank.OneLoad {
		t.Errorf("one load a target: %+v", r.Cells)
	}
	inRounds(complete, 6)
	g = rank.NewGroup(complete)
	for queryType, want := range map[string][2]format.Tone{
		"single-groupby-1-1-1":  {format.TonePlain, format.ToneBest},
		"single-groupby-5-8-1":  {format.ToneBest, format.TonePlain},
		"double-groupby-all":    {format.ToneBest, format.TonePlain},
		"cpu-max-all-8":         {format.ToneDim, format.ToneDim},   // empty answers
		"groupby-orderby-limit": {format.TonePlain, format.ToneDim}, // one not verified
		"lastpoint":             {format.ToneDim, format.TonePlain}, // one cannot
	} {
		r := rank.TypeRow(g, queryType)
		if got := [2]format.Tone{r.Cells[1].Tone, r.Cells[3].Tone}; got != want {
			t.Errorf("%s: %q, want %q", queryType, got, want)
		}
	}

	if r, _ := rank.LoadRow(g); r.Cells[1].Tone != format.TonePlain || r.Cells[3].Tone != format.ToneBest || r.Cells[4].Text != "1.00×" {
		t.Errorf("six loads a target: %+v", r.Cells)
	}

	// The faster one was cut off: its median may be anything above, and
	// no target is known to be best by a ratio.
	duck := g.Subjects[0].Target
	for i := range duck.Repeats {
		q := duck.Repeats[i].Type("single-groupby-5-8-1")
		q.AtLeast = int64(len(q.Each))
		for j := range q.Each {
			q.Each[j] = -q.Each[j]
		}
	}
	pooled, err := duck.Pool()
	if err != nil {
		t.Fatal(err)
	}
	*duck = pooled
	r := rank.TypeRow(rank.NewGroup(complete), "single-groupby-5-8-1")
	if r.Cells[1].Tone == format.ToneBest || r.Cells[3].Tone == format.ToneBest || !strings.HasPrefix(r.Cells[1].Text, "≥") {
		t.Errorf("cut off and still %+v", r.Cells[1:])
	}
}

// inRounds deals the queries of a run out to rounds, and has the load in each a
// little different.
func inRounds(r *result.Run, rounds int) {
	for i := range r.Targets {
		t := &r.Targets[i]
		t.Repeats = nil
		for n := range rounds {
			load := *t.Load
			load.Settled *= 1 + 0.001*float64(n)
			one := result.Repeat{Number: n + 1, Load: &load}
			for _, q := range t.Queries {
				q.First, q.Each = n*len(q.Each)/rounds, q.Each[n*len(q.Each)/rounds:(n+1)*len(q.Each)/rounds]
				one.Queries = append(one.Queries, q)
			}
			t.Repeats = append(t.Repeats, one)
		}
	}
}

func TestRunsOfDifferentDatasetsAreNotCompared(t *testing.T) {
	complete, other := fixture(t)
	complete.Targets, other.Targets = complete.Targets[:1], other.Targets[:1]
	if out := render(t, write.Text, write.Options{Verbose: true}, complete, other); !strings.Contains(out, "Comparison") {
		t.Error("the same dataset is not compared")
	}
	other.Dataset.Fingerprint = "another"
	if out := render(t, write.Text, write.Options{Verbose: true}, complete, other); strings.Contains(out, "Comparison") {
		t.Error("different datasets are compared")
	}
}

func TestTextIsSafeForTerminals(t *testing.T) {
	complete, _ := fixture(t)
	complete.Targets[0].Description.Version = "v1\x1b[2J\rowned\u202e"
	out := render(t, write.Text, write.Options{Verbose: true}, complete)
	if strings.ContainsAny(out, "\x1b\r\u202e") {
		t.Error("a version moves the cursor")
	}
}

func TestJSONIsTheRuns(t *testing.T) {
	complete, killed := fixture(t)
	var got []*result.Run
	if err := json.Unmarshal([]byte(render(t, write.JSON, write.Options{}, complete, killed)), &got); err != nil {
		t.Fatal(err)
	}
	// A load that does not stand has no figures.
	for i := range killed.Targets {
		if l := killed.Targets[i].Load; l != nil && !l.HasFigures() {
			killed.Targets[i].Load = l.WithoutFigures()
		}
	}
	if diff := cmp.Diff([]*result.Run{complete, killed}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := render(t, write.JSON, write.Options{}); got != "[]\n" {
		t.Errorf("no runs are %q", got)
	}
}

func TestCSVHasEveryColumnOnce(t *testing.T) {
	complete, killed := fixture(t)
	lines, err := csv.NewReader(strings.NewReader(render(t, write.CSV, write.Options{}, complete, killed))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + 2 + 14 + 2 + 1 + 1; len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
	known := map[string]bool{}
	for _, name := range lines[0] {
		if known[name] {
			t.Errorf("column %s appears twice", name)
		}
		known[name] = true
	}
}

func TestFormats(t *testing.T) {
	for _, name := range write.Formats() {
		f, err := write.ParseFormat(name)
		if err != nil {
			t.Error(err)
		}
		if err := report.Write(&bytes.Buffer{}, f, nil, write.Options{}); err != nil {
			t.Errorf("%s of no runs: %v", name, err)
		}
	}
	if _, err := write.ParseFormat("htm"); err == nil || !strings.Contains(err.Error(), `did you mean "html"`) {
		t.Errorf("htm: %v", err)
	}
	if err := report.Write(&bytes.Buffer{}, "pdf", nil, write.Options{}); err == nil {
		t.Error("pdf was written")
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrorsAreReported(t *testing.T) {
	complete, _ := fixture(t)
	for _, name := range write.Formats() {
		if err := report.Write(full{}, write.Format(name), []*result.Run{complete}, write.Options{}); err == nil {
			t.Errorf("%s: writing failed and nobody said so", name)
		}
	}
}

// Estimates for a run's terminal are not computed again for its page, or for any
// other format: a figure that is changed in between is changed in all of them.
func TestFormatsShareEstimates(t *testing.T) {
	p := report.New(agreeing(t, 6))
	render := func(format write.Format) string {
		t.Helper()
		var out bytes.Buffer
		if err := p.Write(&out, format, write.Options{Verbose: true}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	render(write.Text)
	p.Groups[0].RankType("type-1").Estimates[0].Median.Figure = 0.00777
	for _, format := range []write.Format{write.HTML, write.Markdown, write.JSON, write.CSV, write.SVG} {
		if out := render(format); !strings.Contains(out, "7.77") && !strings.Contains(out, "0.00777") {
			t.Errorf("%s was estimated again", format)
		}
	}
}
