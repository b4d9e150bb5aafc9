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

	"github.com/tsmark/tsmark/driver/conformance"
)

// TestLiveDashboard has a Prometheus read the metrics of a run, and runs each query of
// docs/grafana/tsmark-live.json there, as Grafana would: each returns figures, with
// the labels of its legend, and no two of a panel have the same legend.
func TestLiveDashboard(t *testing.T) {
	conformance.Address(t, "prometheus") // who has none of it is not made to install it
	var out output
	tsmark := exec.Command("tsmark", "run", "--target", "one=sqlite", "--target", "two=sqlite", "--scale", "100", "--log-interval", "10s", "--query-type", "lastpoint,single-groupby-1-1-1",
		"--queries", "100000", "--repeats", "1", "--time-box", "10m", "--verify", "2", "--results", filepath.Join(t.TempDir(), "results"), "--prometheus", "127.0.0.1:0")
	tsmark.Stdout, tsmark.Stderr = &out, &out
	if err := tsmark.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tsmark.Process.Kill(); _ = tsmark.Wait() })
	said := regexp.MustCompile(`live metrics: http://(\S+)/metrics\n`)
	wait(t, "the address of the metrics", func() bool { return said.MatchString(out.String()) })
	prometheus := conformance.Script(t, "prometheus", "PROMETHEUS_SCRAPE="+said.FindStringSubmatch(out.String())[1])
	begin := time.Now().Add(-time.Minute)

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
	asked := 0
	for _, p := range d.Panels {
		legends := make(map[string]bool)
		for _, target := range p.Targets {
			asked++
			expr := strings.NewReplacer("$instance", ".*", "$__rate_interval", "4s").Replace(target.Expr)
			var series []promSeries
			wait(t, p.Title+": figures", func() bool {
				series = promRange(t, prometheus.Address(), expr, begin)
				for _, s := range series {
					if !s.measured() {
						return false
					}
				}
				return len(series) > 0
			})
			for _, s := range series {
				legend := regexp.MustCompile(`\{\{(\w+)\}\}`).ReplaceAllStringFunc(target.LegendFormat, func(label string) string { return s.Metric[strings.Trim(label, "{}")] })
				if strings.TrimSpace(legend) == "" || legends[legend] {
					t.Errorf("%s: the legend %q of %v is empty or stands twice", p.Title, legend, s.Metric)
				}
				legends[legend] = true
			}
		}
	}
	if asked < 15 {
		t.Errorf("only %d queries were run", asked)
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

// promRange runs a query from begin until now, second by second.
func promRange(t *testing.T, address, expr string, begin time.Time) []promSeries {
	t.Helper()
	answer, err := http.Get("http://" + address + "/api/v1/query_range?" + url.Values{
		"query": {expr}, "start": {fmt.Sprint(begin.Unix())}, "end": {fmt.Sprint(time.Now().Unix())}, "step": {"1"},
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
