package victoriametrics

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/query"
)

// TestExplained checks that an error of VictoriaMetrics 1.150 keeps its reason and the advice however
// long the query is that it quotes before them. Too many points are not a failure.
func TestExplained(t *testing.T) {
	long := `max(max_over_time({__name__="cpu_usage_user",hostname=~\"` + strings.Repeat("host_1|", 1000) + `\"}[2s])) by (hostname)`
	say := func(reason string) []byte {
		quoted, _ := json.Marshal(long)
		text, _ := json.Marshal(map[string]string{"status": "error", "errorType": "422",
			"error": "error when executing query=" + string(quoted) + " on the time range (start=1451606400000, end=1451692800000, step=2000): " + reason})
		return text
	}
	err := responseError(422, say("too many points for the given step=2000, start=1451606400000 and end=1451692800000: 43201; cannot exceed -search.maxPointsPerTimeseries=30000"))
	if !errors.Is(err, query.ErrUnsupported) || !strings.Contains(err.Error(), "at most 30000 points of a series; raise its -search.maxPointsPerTimeseries") {
		t.Errorf("too many points: %v", err)
	}
	reason := "the number of matching timeseries exceeds 300000; either narrow down the search or increase -search.maxUniqueTimeseries command-line flag values"
	err = responseError(422, say(reason))
	if errors.Is(err, query.ErrUnsupported) || !strings.Contains(err.Error(), reason) || !strings.HasSuffix(err.Error(), "raise -search.maxUniqueTimeseries of the server") ||
		strings.Contains(err.Error(), "host_1|") {
		t.Errorf("too many series: %v", err)
	}
}
