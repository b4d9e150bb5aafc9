package report_test

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// A load beside which an answer was wrong has no rate and no size in any output.
func TestLoadBesideWrongAnswers(t *testing.T) {
	figures := []string{"771,000", "771429", "384MiB", "402653184", "12.9", "933044", "11.2"} // rates, sizes, times
	rendered := func(wrong bool) map[write.Format]string {
		run, _ := fixture(t)
		run.Targets = run.Targets[:1]
		duck := &run.Targets[0]
		first := &duck.Queries[0]
		for i := range duck.Queries {
			duck.Queries[i].Withheld, duck.Queries[i].Verdict.Difference = "", ""
		}
		if wrong {
			first.Withheld = "query 0, row 1: wrong max_usage_user"
			first.Verdict.Difference = first.Withheld
		}
		duck.Repeats = []result.Repeat{{Number: 1, Load: duck.Load, Queries: duck.Queries}}
		pooled, err := duck.Pool()
		if err != nil {
			t.Fatal(err)
		}
		*duck = pooled
		if duck.Load.HasFigures() == wrong || run.Passed() == wrong {
			t.Errorf("wrong is %v, and the load is valid: %v", wrong, duck.Load.HasFigures())
		}
		out := map[write.Format]string{}
		for _, name := range write.Formats() {
			if name == string(write.PNG) || name == string(write.SVG) { // which have ratios and no reasons
				continue
			}
			out[write.Format(name)] = strings.Join(strings.Fields(render(t, write.Format(name), write.Options{}, run)), " ")
		}
		return out
	}
	right, wrong := rendered(false), rendered(true)
	for format, text := range right {
		shown := false
		for _, figure := range figures {
			shown = shown || strings.Contains(text, figure)
			if strings.Contains(wrong[format], figure) && strings.Contains(text, figure) && strings.Count(wrong[format], figure) >= strings.Count(text, figure) {
				t.Errorf("%s shows %s of a load that does not stand", format, figure)
			}
		}
		if !shown {
			t.Errorf("%s shows no figure of a valid load", format)
		}
		if want := "answers of the same target are wrong: single-groupby-1-1-1: query 0, row 1: "; !strings.Contains(wrong[format], want) {
			t.Errorf("%s does not say %q", format, want)
		}
	}
}
