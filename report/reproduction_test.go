package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/reproduce/printed"
)

// Every cell that a page shows as printed is a figure of the table that it came from, of
// that system, metric and parameters; and none that tsmark could measure is missing.
func TestPrintedCells(t *testing.T) {
	total := 0
	for i := range document.All() {
		d := &document.All()[i]
		page := NewReproduction(d, claims.Measured{Size: document.Small})
		for j := range d.Experiments {
			e := &d.Experiments[j]
			shown := make(map[string]int)
			for _, one := range page.part(e).Tables {
				for column, c := range one.Columns {
					system, isPrinted := strings.CutSuffix(c.Head, ", printed")
					if !isPrinted || strings.Contains(system, "÷") {
						continue
					}
					for _, r := range one.Rows {
						if text := r.Cells[column].Text; text != none {
							total++
							shown[strings.Join([]string{one.Title, r.Cells[0].Text, system, text}, "|")]++
						}
					}
				}
			}
			for _, name := range e.Printed {
				for _, f := range printed.Of(d.Number, name) {
					s, known := d.System(f.System)
					if !known || !slices.Contains([]string{"rows_per_s", "metrics_per_s", "queries_per_s", "mean_ms", "client_cpu_percent", "space_saved_percent", "load_s", "wall_s", "client_user_s", "client_system_s"}, f.Metric) {
						continue
					}
					var words []string
					for _, parameter := range []string{"client", "dataset", "fsync_ms", "query", "rows_per_device", "scale", "use_case", "vgroups", "workers"} {
						value, has := f.Parameters[parameter]
						if _, axis := e.Axes[parameter]; !has || !axis && parameter != "query" {
							continue
						}
						if !slices.Contains([]string{"dataset", "query", "use_case"}, parameter) {
							value += " " + parameter
							if value == "1 workers" {
								value = "1 worker"
							}
						}
						words = append(words, value)
					}
					key := strings.Join([]string{e.ID + " " + e.Name + ", " + metricName(f.Metric), joined(", ", words...), s.Driver, f.Text}, "|")
					if words == nil {
						key = strings.Replace(key, "||", "|all|", 1)
					}
					if shown[key]--; shown[key] < 0 {
						t.Errorf("%s: %s is not shown", d.Name, key)
					}
				}
			}
			for key, left := range shown {
				if left > 0 {
					t.Errorf("%s: %s is shown, and no table has it", d.Name, key)
				}
			}
		}
	}
	if total < 1500 {
		t.Errorf("pages show %d printed figures", total)
	}
}
