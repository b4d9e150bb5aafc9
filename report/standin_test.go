package report_test

import (
	"bytes"
	"encoding/json"
	"html"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

const chdb = "chDB 26.9 behind tsmark's test server, not a ClickHouse server"

// The figures of other targets are the same whether or not a stand-in ran beside them, and the
// stand-in has no place, ratio or verdict in any format, but its mark in all of them.
func TestStandInIsComparedWithNone(t *testing.T) {
	with := agreeing(t, 6)
	without := agreeing(t, 6)
	without.Targets = slices.Delete(without.Targets, 0, 1)
	with.Targets[0].Description.StandIn = chdb
	name := with.Targets[0].Name
	h, want := rank.NewHeadline(rank.NewGroup(with)), rank.NewHeadline(rank.NewGroup(without))
	for i, a := range want.Answers {
		if len(h.Answers) <= i || h.Answers[i] != a {
			t.Errorf("beside a stand-in the headline says %v, without it %v", h.Answers, want.Answers)
			break
		}
	}
	for _, s := range []*doc.Ranking{h.Queries, h.Loads} {
		if slices.ContainsFunc(s.Places, func(p doc.Place) bool { return p.Subject == 0 }) {
			t.Errorf("%s has the stand-in: %+v", s.Title, s.Places)
		}
	}
	for _, f := range report.New(with).WithFigures()[0].Figures {
		switch of := f.Target == name; {
		case of && (f.Ratio != nil || !strings.HasPrefix(f.Verdict, rank.NotRanked) || f.StandIn != chdb):
			t.Errorf("the figure of the stand-in is %+v", f)
		case f.Against == name || !of && f.StandIn != "":
			t.Errorf("the figure of %s is %+v", f.Target, f)
		}
	}
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML, write.JSON, write.CSV, write.SVG} {
		out := render(t, format, write.Options{Width: 1000, Verbose: true}, with)
		if format == write.SVG { // a text breaks into lines there
			out = strings.Join(strings.Split(out, "</text>\n"), " ")
		}
		for _, mark := range []string{"chDB 26.9", "not a ClickHouse server", map[write.Format]string{write.Text: name + " (stand-in)", write.Markdown: name + " (stand-in)", write.HTML: name + " (stand-in)"}[format]} {
			if !strings.Contains(removeMarkup(out, format), removeMarkup(mark, format)) {
				t.Errorf("%s lacks %q", format, mark)
			}
		}
	}
	for line := range strings.Lines(render(t, write.CSV, write.Options{}, with)) {
		if strings.Contains(line, ","+name+",") && !strings.Contains(line, chdb) {
			t.Errorf("a line of CSV is not marked: %s", line)
		}
	}
	var verification bytes.Buffer
	if err := report.WriteVerification(&verification, with, write.Options{}); err != nil || !strings.Contains(verification.String(), name+" (stand-in)") {
		t.Errorf("the verification page does not mark the stand-in (%v)", err)
	}
}

// The headline of a stand-in alone says only that it is one.
func TestStandInAlone(t *testing.T) {
	run := agreeing(t, 6)
	run.Targets = run.Targets[:1]
	run.Targets[0].Description.StandIn = chdb
	h := rank.NewHeadline(rank.NewGroup(run))
	if h == nil || h.Queries != nil || h.Loads != nil || len(h.Answers) != 1 || !strings.Contains(h.Answers[0].Text, chdb) || strings.Contains(h.Answers[0].Text, "rows/s") {
		t.Errorf("headline %+v", h)
	}
}

// A comparison file sets a stand-in against nothing, even itself.
func TestStandInAgainstItself(t *testing.T) {
	a, b := agreeing(t, 6), agreeing(t, 6)
	b.ID += "b"
	b.Targets[1].Description.StandIn = chdb
	c, err := compare.Runs(compare.Side{Runs: []*result.Run{a}}, compare.Side{Runs: []*result.Run{b}}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Targets {
		target := &c.Targets[i]
		standIn := target.B.StandIn != ""
		if standIn != (target.B.Name == b.Targets[1].Name) {
			t.Errorf("%s: stand-in %q", target.B.Name, target.B.StandIn)
		}
		for _, f := range target.Figures {
			if strings.HasPrefix(f.Why, "too few queries") {
				continue
			}
			if (f.Verdict == compare.NotCompared) != standIn || standIn && (f.Significant() || !strings.Contains(f.Why, chdb)) {
				t.Errorf("%s, %s %s: %s, %s", target.B.Name, f.Subject, f.Metric, f.Verdict, f.Why)
			}
		}
	}
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML, write.JSON, write.CSV} {
		var out bytes.Buffer
		if err := comparison.Write(&out, format, c, write.Options{Width: 1000}); err != nil || !strings.Contains(html.UnescapeString(out.String()), "not a ClickHouse server") {
			t.Errorf("%s does not name the stand-in (%v)", format, err)
		}
	}
	holds, _, _ := c.Check([]compare.Condition{{Metric: compare.Median, Rise: true, Absolute: true, Limit: 1e-12, AsIs: true}})
	if slices.ContainsFunc(holds, func(f compare.Finding) bool { return f.Target == b.Targets[1].Name }) {
		t.Errorf("a limit was judged by a stand-in: %v", holds)
	}
}

// Queries of the store's views for verified figures leave a stand-in out.
func TestStandInIsStored(t *testing.T) {
	run := agreeing(t, 6)
	run.Targets[0].Description.StandIn = chdb
	run.Targets[0].Queries[0].Withheld = "wrong"
	stored := report.StoreFigures(run)
	for i, f := range stored.Queries {
		switch standIn := f.Target == run.Targets[0].Name; {
		case i == 0:
			if f.Verdict != "withheld" || f.Why != "wrong" {
				t.Errorf("the withheld figure is %q: %q", f.Verdict, f.Why)
			}
		case standIn != (f.Verdict == "stand-in") || standIn != (f.Why == chdb):
			t.Errorf("%s of %s is %q: %q", f.Type, f.Target, f.Verdict, f.Why)
		}
	}
	for _, f := range stored.Loads {
		if standIn := f.Target == run.Targets[0].Name; standIn != (f.Verdict == "stand-in") || standIn != (f.Why == chdb) {
			t.Errorf("the load of %s is %q: %q", f.Target, f.Verdict, f.Why)
		}
	}
}

// IoTDB-Benchmark's matrices of a stand-in are named so in each format.
func TestStandInInMatrices(t *testing.T) {
	run := agreeing(t, 6)
	run.Targets[0].Description.StandIn = chdb
	name := run.Targets[0].Name
	for format, mark := range map[write.Format]string{write.Text: name + " (stand-in)", write.Markdown: name + " (stand-in)", write.HTML: name + " (stand-in)", write.CSV: chdb, write.JSON: chdb} {
		var out bytes.Buffer
		if err := report.WriteMatrices(&out, format, []*result.Run{run}, write.Options{}); err != nil || !strings.Contains(removeMarkup(out.String(), format), removeMarkup(mark, format)) {
			t.Errorf("%s lacks %q (%v)", format, mark, err)
		}
	}
}

// A system with another name than its driver is called by it.
func TestSystemIsNamed(t *testing.T) {
	run := agreeing(t, 6)
	run.Targets[2].Name, run.Targets[2].Driver = "mysql", "mysql"
	run.Targets[2].Description.System, run.Targets[2].Description.Version = "MariaDB", "MariaDB 10.11.14"
	h := rank.NewHeadline(rank.NewGroup(run))
	if !strings.Contains(h.Answers[0].Text, "faster than mysql (MariaDB)") || !slices.ContainsFunc(h.Basis, func(s string) bool {
		return strings.Contains(s, "MariaDB 10.11.14") && !strings.Contains(s, "mysql MariaDB")
	}) {
		t.Errorf("headline %q, by %q", h.Answers[0].Text, h.Basis)
	}
	var figures struct{ Figures []struct{ Target string } }
	if err := json.Unmarshal([]byte(strings.Trim(render(t, write.JSON, write.Options{}, run), "[]\n ")), &figures); err != nil || figures.Figures[len(figures.Figures)-1].Target != "mysql" {
		t.Errorf("JSON calls the target %+v (%v)", figures.Figures, err)
	}
}

// Whoever reads figures of an imported run reads that they were not measured here.
func TestImportedIsSaid(t *testing.T) {
	here, from := agreeing(t, 6), agreeing(t, 6)
	from.ID += "b"
	from.Imported = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	from.Unchecked = "the export has no operation log"
	const mark = "mported, not measured here, figures not checked: the export has no operation log"
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML, write.CSV, write.SVG} {
		if out := render(t, format, write.Options{Width: 1000}, from); !strings.Contains(out, mark) {
			t.Errorf("%s does not say it", format)
		}
		if out := render(t, format, write.Options{Width: 1000}, here); strings.Contains(out, mark) {
			t.Errorf("%s says it of a run that was measured here", format)
		}
	}
	if out := render(t, write.Text, write.Options{Width: 1000}, here, from); !strings.Contains(out, "(imported)") {
		t.Error("beside another run its targets are not marked")
	}
	c, err := compare.Runs(compare.Side{Runs: []*result.Run{here}}, compare.Side{Runs: []*result.Run{from}}, compare.Options{})
	if err != nil || !slices.ContainsFunc(c.Notes, func(s string) bool { return strings.Contains(s, from.ID) && strings.Contains(s, mark) }) {
		t.Errorf("the comparison says %q (%v)", c.Notes, err)
	}
}
