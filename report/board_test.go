package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// subjectsOf are all targets of runs.
func subjectsOf(runs ...*result.Run) []report.Subject {
	var list []report.Subject
	for _, r := range runs {
		for i := range r.Targets {
			list = append(list, report.Subject{Run: r, Target: i})
		}
	}
	return list
}

// A board shows the same figures as the report's comparison, and the reason for each missing one.
func TestBoardAgreesWithComparison(t *testing.T) {
	complete, killed := fixture(t)
	runs := []*result.Run{complete, killed}
	b := report.NewBoard(subjectsOf(runs...)...)
	compared := tables.SideBySide(&report.New(runs...).Groups[0])
	for _, r := range compared.Rows {
		name := r.Cells[0].Text
		var entries []report.BoardEntry
		if name == "load, settled rows/s" {
			entries = b.Loads()
		} else {
			entries = b.Type(name)
		}
		for i, s := range entries {
			figure, beside := r.Cells[1+2*i].Text, r.Cells[2+2*i].Text
			own := strings.TrimRight(strings.ReplaceAll(s.Figure+s.Marks, rank.DoubtMark, ""), " ")
			if own != figure || s.Beside != beside || s.Best != (r.Cells[2+2*i].Tone == format.ToneBest) {
				t.Errorf("%s of %d: %q %q (best: %v), the comparison has %q %q", name, i, own, s.Beside, s.Best, figure, beside)
			}
		}
	}
	for name, want := range map[string]report.BoardEntry{
		"high-cpu-1": {Checked: "withheld", Why: "wrong answer to query 4: query 4, row 17: usage_user is 93.5, found 93.25", Wrong: true},
		"lastpoint":  {Checked: "n/a", Why: "the dialect has no such query"},
	} {
		if s := b.Type(name)[0]; s.Checked != want.Checked || s.Why != want.Why || s.Wrong != want.Wrong || s.Valid {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s := b.Type("groupby-orderby-limit")[1]; s.Valid || s.Checked != "not verified" || !strings.Contains(s.Marks, rank.DoubtMark) {
		t.Errorf("not verified: %+v", s)
	}
	if s := b.Loads()[2]; !s.Wrong || s.Checked != "withheld" || s.Why != "the census differs from the rows sent" {
		t.Errorf("a load that is withheld: %+v", s)
	}
}

// withoutWithheld removes from a target the reasons for withheld figures.
func withoutWithheld(t *result.Target) {
	for i := range t.Repeats {
		t.Repeats[i].Queries = slices.DeleteFunc(t.Repeats[i].Queries, func(q result.Queries) bool { return q.Withheld != "" })
	}
	t.Queries = slices.DeleteFunc(t.Queries, func(q result.Queries) bool { return q.Withheld != "" })
}

// Different queries of one name are not compared, so they are not a tie; all other figures are compared.
func TestBoardOfDifferentQueries(t *testing.T) {
	const other, same = "single-groupby-5-8-1", "single-groupby-1-1-1"
	a, _ := fixture(t)
	b, _ := fixture(t)
	c, _ := fixture(t)
	b.ID, c.ID = "20260201-154500-0b0b", "20260202-154500-0c0c"
	for _, r := range []*result.Run{a, b, c} {
		withoutWithheld(&r.Targets[0])
	}
	for r, drawn := range map[*result.Run]string{a: "1", b: "2", c: "1"} {
		r.QuerySets = append(r.QuerySets, result.QuerySet{Type: other, Count: 1000, Fingerprint: drawn, Definition: drawn})
	}
	two := report.NewBoard(report.Subject{Run: a, Target: 0}, report.Subject{Run: b, Target: 0})
	for i, s := range two.Type(other) {
		if s.Beside != "" || s.Best || s.Figure != "5.03\u202fms" || !s.Valid {
			t.Errorf("different queries, %d: %q %q", i, s.Figure, s.Beside)
		}
	}
	if r := two.Group.RankType(other); r.Reference >= 0 {
		t.Errorf("subject %d is the reference of an uncompared figure", r.Reference)
	}
	for i, s := range append(two.Type(same), two.Loads()...) {
		if s.Beside == "" {
			t.Errorf("equal figures, %d: %q is not compared", i, s.Figure)
		}
	}
	// Of three subjects, the two with the same queries are compared.
	for i, s := range report.NewBoard(report.Subject{Run: b, Target: 0}, report.Subject{Run: a, Target: 0}, report.Subject{Run: c, Target: 0}).Type(other) {
		if (s.Beside == "") != (i == 0) {
			t.Errorf("of three, %d: %q", i, s.Beside)
		}
	}
}

// The verification page covers every load, table and query type.
func TestVerificationPage(t *testing.T) {
	complete, killed := fixture(t)
	complete.CheckSeed = "4711"
	complete.Targets[0].Description.System = "DuckDB by another name" // which its label has too
	for _, r := range []*result.Run{complete, killed} {
		var out bytes.Buffer
		if err := report.WriteVerification(&out, r, write.Options{Links: []write.Link{{Text: "All", Address: "../index.html"}}}); err != nil {
			t.Fatal(err)
		}
		page := parse(t, out.String())
		wanted := []string{r.Dataset.Fingerprint, "All"}
		counted := 0
		for i := range r.Targets {
			wanted = append(wanted, r.Targets[i].Name, r.Targets[i].Failure)
			if l := r.Targets[i].Load; l != nil && len(l.Census) > 0 {
				counted++
			}
			for _, q := range r.Targets[i].Queries {
				wanted = append(wanted, q.Type)
			}
		}
		if r == complete {
			wanted = append(wanted, "withheld: wrong answer to query 4; first difference: query 4, row 17", "n/a: the dialect has no such query", "verified (empty)", "not verified",
				"8,640,000", "counts points only", "4711", "not computed in this run")
		} else {
			wanted = append(wanted, "withheld: the census differs from the rows sent", "1 row is missing", "DID NOT FINISH")
		}
		for _, want := range wanted {
			if !strings.Contains(page.text, want) {
				t.Errorf("the page of %s does not say %q", r.ID, want)
			}
		}
		if n := strings.Count(page.text, "rows expected"); n != counted {
			t.Errorf("the page of %s has the census of %d targets, want %d", r.ID, n, counted)
		}
		for _, link := range page.links {
			if id, ok := strings.CutPrefix(link, "#"); ok && strings.Count(out.String(), ` id="`+id+`"`) != 1 {
				t.Errorf("%s leads to %d places", link, strings.Count(out.String(), ` id="`+id+`"`))
			}
		}
	}
}
