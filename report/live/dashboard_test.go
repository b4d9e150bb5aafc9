package live

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/record"
)

// Grafana's dashboard uses only metrics and labels that exist.
func TestDashboard(t *testing.T) {
	run := NewRun()
	s := start(t, run, Options{Address: "127.0.0.1:0"})
	run.Follow(func() progress.State {
		return progress.State{Step: 1, Steps: 2, Left: time.Second, Running: []progress.Running{{Label: "load", Unit: "rows", Total: 1}}}
	})
	run.Begin(record.Beginning{ID: "r", Resources: func(int) []result.Resources {
		var r result.Resources
		r.Source = "client"
		r.Add(1, map[result.Metric]float64{result.CPU: 1, result.RSS: 1, result.DiskRead: 1, result.DiskWritten: 1})
		return []result.Resources{r}
	}})
	for _, kind := range []oplog.Kind{oplog.Load, oplog.Query} {
		run.Operations(time.Now(), oplog.Cell{Kind: kind, Target: "t"}, []oplog.Op{{Rows: 1}})
	}
	labels := map[string][]string{} // of each metric that is exported
	sample := regexp.MustCompile(`(?m)^(tsmark_\w+?)(?:\{(.*)\})? \S+$`)
	label := regexp.MustCompile(`(\w+)="`)
	for _, found := range sample.FindAllStringSubmatch(get(t, s.URL+"metrics"), -1) {
		labels[found[1]] = append(labels[found[1]], "instance")
		for _, l := range label.FindAllStringSubmatch(found[2], -1) {
			labels[found[1]] = append(labels[found[1]], l[1])
		}
	}

	text, err := os.ReadFile("../../docs/grafana/tsmark-live.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Templating struct {
			List []struct{ Name, Definition string }
		}
		Panels []struct {
			Title, Description string
			Targets            []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	queried := make(map[string]bool)
	look := func(title, expr, legend string) {
		var known []string
		for _, found := range regexp.MustCompile(`(tsmark_\w+)(?:\{([^}]*)\})?`).FindAllStringSubmatch(expr, -1) {
			queried[found[1]] = true
			if labels[found[1]] == nil {
				t.Errorf("%s: there is no metric %s", title, found[1])
			}
			known = append(known, labels[found[1]]...)
			for _, l := range regexp.MustCompile(`(\w+)=~?"`).FindAllStringSubmatch(found[2], -1) {
				if !slices.Contains(labels[found[1]], l[1]) {
					t.Errorf("%s: %s has no label %s", title, found[1], l[1])
				}
			}
		}
		for _, l := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(legend, -1) {
			if !slices.Contains(known, l[1]) {
				t.Errorf("%s: the legend has %s, the metric has %v", title, l[1], known)
			}
			if by := regexp.MustCompile(`by \(([^)]*)\)`).FindStringSubmatch(expr); by != nil && !slices.Contains(strings.Split(by[1], ", "), l[1]) {
				t.Errorf("%s: the legend has %s, and the sum is by %s", title, l[1], by[1])
			}
		}
	}
	for _, v := range d.Templating.List {
		look(v.Name, v.Definition, "")
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			look(p.Title, target.Expr, target.LegendFormat)
			if measured := strings.Contains(target.Expr, "rate(tsmark_rows") || strings.Contains(target.Expr, "bucket"); measured && !strings.Contains(p.Description, "Not verified yet") {
				t.Errorf("%s: is not marked as not verified", p.Title)
			}
		}
	}
	if len(queried) < 10 {
		t.Errorf("only %d metrics are shown", len(queried))
	}
}
