package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// verbatim is a run whose queries were TSBS's texts, and the same run as tsmark's
// queries make it.
func verbatim(t *testing.T) (texts, equal *result.Run) {
	t.Helper()
	equal, _ = fixture(t)
	texts, _ = fixture(t)
	for i := range texts.Targets {
		of := &texts.Targets[i]
		for j := range of.Queries {
			q := &of.Queries[j]
			q.Texts, q.Withheld, q.Verdict = result.TextsTSBS, "", result.Verdict{}
			q.Sample.Wanted, q.Sample.Captured = 0, 0
		}
	}
	return texts, equal
}

// In every format each figure of TSBS's texts is marked, and no target is compared by
// them: the verbatim texts are not the same query on all systems.
func TestTSBSTextsAreMarked(t *testing.T) {
	texts, equal := verbatim(t)
	for _, format := range write.Formats() {
		if format == string(write.SVG) || format == string(write.PNG) { // pictures of the headline, which has none of them
			continue
		}
		var out, before bytes.Buffer
		if err := report.Write(&out, write.Format(format), []*result.Run{texts}, write.Options{Verbose: true, Width: 400}); err != nil {
			t.Fatal(err)
		}
		if err := report.Write(&before, write.Format(format), []*result.Run{equal}, write.Options{Verbose: true, Width: 400}); err != nil {
			t.Fatal(err)
		}
		page := strings.NewReplacer("&#39;", "'", `\u0027`, "'").Replace(out.String())
		if n := strings.Count(page, "not verified: TSBS's text"); n < 10 {
			t.Errorf("%s: %d figures are marked as TSBS's texts:\n%.3000s", format, n, page)
		}
		if strings.Contains(before.String(), "TSBS's text") {
			t.Errorf("%s: tsmark's own queries are said to be TSBS's", format)
		}
		for _, compared := range []string{"× faster than", "By query type:"} {
			if strings.Contains(page, compared) {
				t.Errorf("%s compares targets: %q", format, compared)
			}
		}
	}
}

// No ranking has them, and figures of both kinds never stand in one.
func TestTSBSTextsAreNotRanked(t *testing.T) {
	texts, _ := verbatim(t)
	g := rank.NewGroup(texts)
	for _, q := range texts.Targets[0].Queries {
		if r := g.RankType(q.Type); r.Reference >= 0 || r.Figures[0] != nil || r.Figures[1] != nil {
			t.Errorf("%s is ranked", q.Type)
		}
		for _, c := range rank.TypeRow(g, q.Type).Cells[1:] {
			if strings.HasSuffix(c.Text, "s") && c.Text[0] >= '0' && c.Text[0] <= '9' {
				t.Errorf("%s: %q is beside the figure of another target", q.Type, c.Text)
			}
		}
	}
	if r := g.RankOverall(); r.Reference >= 0 {
		t.Error("there is an overall figure")
	}
	for i := range texts.Targets {
		for j := range texts.Targets[i].Queries {
			if q := &texts.Targets[i].Queries[j]; rank.IsDrawn(q) {
				t.Errorf("%s is drawn in charts of several targets", q.Type)
			}
		}
	}
	if rank.NewHeadline(g).Queries != nil {
		t.Error("the headline has standings of queries")
	}
	if texts.Texts() != result.TextsTSBS {
		t.Error("the run does not say which texts it has")
	}
}
