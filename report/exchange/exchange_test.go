package exchange

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/trend"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
)

func example() *trend.Trend {
	return &trend.Trend{
		Target: "questdb",
		Runs: []trend.Run{
			{ID: "20260101-020000-a", Started: time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC), System: "questdb 9.2.3", Tool: "v1"},
			{ID: "20260102-020000-b", Started: time.Date(2026, 1, 2, 2, 0, 0, 0, time.UTC), System: "questdb 9.3.0", Tool: "v1"},
		},
		Figures: []trend.Figure{
			{Subject: "lastpoint", Metric: compare.Median, Unit: compare.Seconds, Better: compare.Lower, Points: []trend.Point{{Value: 0.5}, {Value: 0.75}}},
			{Subject: "double-groupby-1@1h", Metric: compare.P99, Unit: compare.Seconds, Better: compare.Lower, Points: []trend.Point{{Value: 2}, {Missing: "withheld: wrong"}}},
			{Subject: compare.LoadSubject, Metric: compare.Load, Unit: compare.RowsPerSecond, Better: compare.Higher, Points: []trend.Point{{Value: 1e6}, {Value: 2e6}}},
		},
	}
}

func TestOtava(t *testing.T) {
	var csv, config strings.Builder
	leftOut, err := Otava(&csv, example())
	if err != nil || len(leftOut) != 1 || leftOut[0] != "double-groupby-1-1h-p99" {
		t.Errorf("left out %q, %v", leftOut, err)
	}
	if want := `time,run,version,tsmark,lastpoint-median,load
2026-01-01 02:00:00 +0000,20260101-020000-a,questdb 9.2.3,v1,0.5,1000000
2026-01-02 02:00:00 +0000,20260102-020000-b,questdb 9.3.0,v1,0.75,2000000
`; csv.String() != want {
		t.Errorf("%s", csv.String())
	}
	if err := OtavaConfig(&config, example(), "nightly.csv"); err != nil {
		t.Fatal(err)
	}
	if want := `tests:
  "questdb":
    type: csv
    file: "nightly.csv"
    time_column: time
    attributes: [run, version, tsmark]
    metrics:
      "lastpoint-median": {column: "lastpoint-median", direction: -1, scale: 1}
      "load": {column: "load", direction: 1, scale: 1}
`; config.String() != want {
		t.Errorf("%s", config.String())
	}
}

func TestNyrkio(t *testing.T) {
	var out strings.Builder
	if err := Nyrkio(&out, example()); err != nil {
		t.Fatal(err)
	}
	compact := strings.Join(strings.Fields(out.String()), "")
	if want := `{"timestamp":1767319200,"metrics":[{"name":"lastpoint-median","unit":"s","value":0.75,"direction":"lower_is_better"},` +
		`{"name":"load","unit":"rows/s","value":2000000,"direction":"higher_is_better"}],"attributes":{"run":"20260102-020000-b","tsmark":"v1","version":"questdb9.3.0"}}]`; !strings.HasSuffix(compact, want) {
		t.Errorf("%s", compact)
	}
}

// Prometheus's own parser reads the text, and withheld figures have no sample.
func TestOpenMetrics(t *testing.T) {
	half, disk := 0.5, int64(4096)
	figures := func(*result.Run) store.Figures {
		return store.Figures{
			Queries: []store.QueryFigure{{Target: "a", Type: "last\"point\\\n", Verdict: "verified", Median: &half, Low: &half, High: &half, Rate: &half}, {Target: "a", Type: "wrong", Verdict: "withheld"}},
			Loads:   []store.LoadFigure{{Target: "a", Verdict: "verified", Rate: &half, Disk: &disk}},
		}
	}
	run := func(id string) *result.Run {
		return &result.Run{ID: id, Name: "n", Finished: time.UnixMilli(1767319200500), Targets: []result.Target{{Name: "a", Driver: "sqlite"}}}
	}
	var out strings.Builder
	if err := OpenMetrics(&out, []*result.Run{run("r1"), run("r2")}, figures); err != nil {
		t.Fatal(err)
	}
	parser := textparse.NewOpenMetricsParser([]byte(out.String()), labels.NewSymbolTable())
	found := make(map[string]int)
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var l labels.Labels
		parser.Labels(&l)
		_, at, value := parser.Series()
		if at == nil || *at != 1767319200500 {
			t.Errorf("%s at %v", l, at)
		}
		found[l.Get("__name__")+" "+l.Get("type")+" "+l.Get("bound")]++
		if l.Get("type") == "last\"point\\\n" && value != 0.5 {
			t.Errorf("%s is %v", l, value)
		}
	}
	for name, want := range map[string]int{
		"tsmark_run_info  ": 2, "tsmark_query_median_seconds last\"point\\\n ": 2, "tsmark_query_median_seconds last\"point\\\n low": 2, "tsmark_query_p99_seconds last\"point\\\n ": 0,
		"tsmark_query_median_seconds wrong ": 0, "tsmark_figure_withheld wrong ": 2, "tsmark_load_rate  ": 2, "tsmark_disk_bytes  ": 2,
	} {
		if found[name] != want {
			t.Errorf("%q: %d samples, want %d", name, found[name], want)
		}
	}
}
