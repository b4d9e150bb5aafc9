package report_test

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// The verdicts of targets whose answers were compared without measuring stand side by side, each with its reason below.
func TestVerdictsSideBySide(t *testing.T) {
	match := result.Verdict{Checked: 70, Rows: 700}
	documented, wrong := match, match
	documented.Documented, documented.Reason = 3, "rate does not extrapolate"
	wrong.Difference = "query 4, row 17: value is 93.5, found 93.25"
	target := func(name string, first result.Verdict, unsupported, withheld string) result.Target {
		return result.Target{Name: name, Driver: name, Queries: []result.Queries{
			{Type: "compliance-rates", Verdict: first, Withheld: first.Difference},
			{Type: "compliance-dates", Verdict: match, Withheld: withheld},
			{Type: "compliance-signs", Unsupported: unsupported},
		}}
	}
	run := &result.Run{ID: "20260131-154500-bbbb", Status: result.Complete, Started: started, Dataset: result.Dataset{Fingerprint: "f", Rows: 1e6},
		Targets: []result.Target{target("a", match, "it has none", ""), target("b", documented, "it has none", "its rows are wrong"), target("c", wrong, "it has none", "")}}
	page := render(t, write.Markdown, write.Options{}, run)
	for _, want := range []string{
		"## Comparison: answers\n\n| type | a | b | c |",
		"| compliance-rates | verified | differs as documented | wrong |",
		"| compliance-dates | verified | withheld | verified |",
		"| compliance-signs | n/a | n/a | n/a |",
		"wrong: query 4, row 17: value is 93.5, found 93.25",
		"1 differ as documented (compliance-rates). rate does not extrapolate",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in\n%s", want, page)
		}
	}
}
