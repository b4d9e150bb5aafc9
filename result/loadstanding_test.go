package result_test

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
)

// A wrong answer of any repeat, or beside the writes, withholds all loads of its
// target; a query that failed does not.
func TestLoadHasFigures(t *testing.T) {
	wrong := result.Verdict{Checked: 3, Difference: "query 1, row 2: missing"}
	for name, c := range map[string]struct {
		repeats []result.Repeat
		reason  string
	}{
		"right":  {[]result.Repeat{{Number: 1, Load: &result.Load{Settled: 1}, Queries: []result.Queries{{Type: "a", Verdict: result.Verdict{Checked: 3}}}}}, ""},
		"failed": {[]result.Repeat{{Number: 1, Load: &result.Load{Settled: 1}, Queries: []result.Queries{{Type: "a", Withheld: "query 7: out of memory"}}}}, ""},
		"wrong in a later repeat": {[]result.Repeat{
			{Number: 1, Load: &result.Load{Settled: 1}, Queries: []result.Queries{{Type: "a"}}},
			{Number: 2, Load: &result.Load{Settled: 2}, Queries: []result.Queries{{Type: "b", Verdict: wrong, Withheld: wrong.Difference}}},
		}, "answers of the same target are wrong: b: query 1, row 2: missing"},
		"wrong while it was loaded": {[]result.Repeat{{Number: 1, Load: &result.Load{Settled: 1, Mixed: &result.Mixed{Types: []result.MixedType{{Type: "c", Verdict: wrong}}}}}},
			"while it was loaded, c: query 1, row 2: missing"},
		"wrong during the life of another repeat": {[]result.Repeat{{Number: 1, Load: &result.Load{Settled: 1}},
			{Number: 2, Load: &result.Load{Settled: 1, Life: &result.Life{Base: result.Mixed{Types: []result.MixedType{{Type: "d", Verdict: wrong, Withheld: wrong.Difference}}}}}}},
			"during its life, d: query 1, row 2: missing"},
		"withheld itself": {[]result.Repeat{{Number: 1, Load: &result.Load{Withheld: "5 rows are missing"}, Queries: []result.Queries{{Type: "b", Verdict: wrong}}}}, "5 rows are missing"},
	} {
		target := result.Target{Name: "x", Repeats: c.repeats}
		for range 2 { // a second time changes nothing
			var err error
			if target, err = target.Pool(); err != nil {
				t.Fatal(err)
			}
		}
		if got := target.Load.Reason(); !strings.Contains(got, c.reason) || target.Load.HasFigures() != (c.reason == "") {
			t.Errorf("%s: %q, want %q", name, got, c.reason)
		}
		for _, r := range target.Repeats {
			if r.Load.HasFigures() != (c.reason == "") {
				t.Errorf("%s: repeat %d is valid: %v", name, r.Number, r.Load.HasFigures())
			}
		}
		if bare := target.Load.WithoutFigures(); bare.Settled != 0 || bare.DiskBytes != -1 || bare.Reason() != target.Load.Reason() {
			t.Errorf("%s: %+v", name, bare)
		}
	}
	if (*result.Load)(nil).HasFigures() {
		t.Error("no load is valid")
	}
}
