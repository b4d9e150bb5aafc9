package compare

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// Times of a type whose answers were mostly stale are compared with none; a query that failed
// says so.
func TestStaleIsNotCompared(t *testing.T) {
	for _, test := range []struct {
		stale  int64
		failed *result.Failure
		says   string // empty: the figure is compared
	}{
		{0, nil, ""}, {2, nil, ""}, {3, nil, "1.5 % of the answers were stale"}, {200, nil, "100 % of the answers were stale"},
		{0, &result.Failure{Cause: result.ServerError, Reason: "query 1: Invalid position -1"}, "failed: query 1: Invalid position -1"},
	} {
		q := result.MixedType{Type: "lastpoint", Verdict: result.Verdict{Checked: 20}, Counted: 180, Stale: test.stale, Failed: test.failed,
			Service: result.Latency{Summary: measure.Summary{Count: 200, Median: 0.25}}}
		load := &result.Load{Mixed: &result.Mixed{Types: []result.MixedType{q}}}
		seconds, missing := MixedTime(load, q.Type, MixedMedian)
		if (missing == "") != (test.says == "") || !strings.Contains(missing, test.says) || test.says == "" && seconds != 0.25 {
			t.Errorf("%d stale: %v, %q", test.stale, seconds, missing)
		}
	}
}
