package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
)

// TestLiveDashboard has a Prometheus read the metrics of a run, and runs each query of
// docs/grafana/tsmark-live.json there, as Grafana would: each returns figures, with
// the labels of its legend, and no two of a panel have the same legend.
func TestLiveDashboard(t *testing.T) {
	conformance.Long(t)                  // two databases are loaded for many seconds
	conformance.Address(t, "prometheus") // contributors without a Prometheus need not install one
	// Each target is loaded for some seconds, and each type is run, more than once: a rate needs a figure before it and one after it.
	at := fmt.Sprintf("127.0.0.1:%d", fault.FreePort(t))
	prometheus := fault.Script(t, "prometheus", "PROMETHEUS_SCRAPE="+at)
	begin := time.Now()
	tsmark := exec.Command("tsmark", "run", "--target", "one=sqlite", "--target", "two=sqlite", "--scale", "100", "--log-interval", "10s", "--load-repeats", "3", "--query-type", "single-groupby-5-8-1,cpu-max-all-8",
		"--queries", "1000", "--repeats", "3", "--time-box", "1s", "--results", filepath.Join(t.TempDir(), "results"), "--web="+at)
	if out, err := tsmark.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	text, err := os.ReadFile("../docs/grafana/tsmark-live.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	queries := 0
	for _, p := range d.Panels {
		legends := make(map[string]bool)
		for _, target := range p.Targets {
			queries++
			expr := strings.NewReplacer("$instance", ".*", "$__rate_interval", "4s").Replace(target.Expr)
			series := promRange(t, prometheus.Address(), expr, begin)
			if len(series) == 0 {
				t.Errorf("%s: %s finds nothing", p.Title, expr)
			}
			for _, s := range series {
				if !s.measured() {
					t.Errorf("%s: %s has no figure for %v", p.Title, expr, s.Metric)
				}
				legend := regexp.MustCompile(`\{\{(\w+)\}\}`).ReplaceAllStringFunc(target.LegendFormat, func(label string) string { return s.Metric[strings.Trim(label, "{}")] })
				if strings.TrimSpace(legend) == "" || legends[legend] {
					t.Errorf("%s: the legend %q of %v is empty or there twice", p.Title, legend, s.Metric)
				}
				legends[legend] = true
			}
		}
	}
	if queries < 15 {
		t.Errorf("only %d queries were run", queries)
	}
}

// promSeries is a series of an answer of Prometheus to a query over a range.
type promSeries struct {
	Metric map[string]string
	Values [][2]any // time, and the value as text
}

// measured reports whether one of its values is a number.
func (s promSeries) measured() bool {
	for _, v := range s.Values {
		text, _ := v[1].(string)
		if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) {
			return true
		}
	}
	return false
}

// promRange runs a query from begin until now, as often as Prometheus reads.
func promRange(t *testing.T, address, expr string, begin time.Time) []promSeries {
	t.Helper()
	answer, err := http.Get("http://" + address + "/api/v1/query_range?" + url.Values{
		"query": {expr}, "start": {fmt.Sprint(begin.Unix())}, "end": {fmt.Sprint(time.Now().Unix())}, "step": {"0.5"},
	}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		Data struct{ Result []promSeries }
	}
	if err := json.Unmarshal(text, &of); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %s", expr, answer.StatusCode, err, text)
	}
	return of.Data.Result
}
