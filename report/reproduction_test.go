package report

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
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

// What the pages under docs/reports show as printed, and claims with their sentences, is what
// pages show today in the same place. The page in HTML has each of these texts, too.
func TestPublishedPages(t *testing.T) {
	const folder = "../docs/reports/reproduce"
	pages, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil || len(pages) != len(document.All()) {
		t.Fatalf("%d pages of %d documents: %v", len(pages), len(document.All()), err)
	}
	total := 0
	for i := range document.All() {
		d := &document.All()[i]
		var today bytes.Buffer
		if err := NewReproduction(d, claims.Measured{Size: document.Small}).Write(&today, Markdown, Options{}); err != nil {
			t.Fatal(err)
		}
		published, err := os.ReadFile(filepath.Join(folder, d.Name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(folder, d.Name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		page = bytes.ReplaceAll(page, []byte("\u202f"), []byte(" ")) // before a unit
		want, got := printedCells(today.String()), printedCells(string(published))
		for where, text := range got {
			if want[where] != text {
				t.Errorf("%s.md: %s: %q; the document has %q", d.Name, where, text, want[where])
			}
			if !bytes.Contains(page, []byte(html.EscapeString(strings.ReplaceAll(text, `\`, "")))) {
				t.Errorf("%s.html lacks %q", d.Name, text)
			}
		}
		for where := range want {
			if _, has := got[where]; !has && strings.HasPrefix(where, "## Claims") {
				t.Errorf("%s.md lacks %s", d.Name, where)
			}
		}
		total += len(got)
	}
	if total < 500 {
		t.Errorf("the pages show %d printed cells", total)
	}
}

// printedCells are the cells of a page's tables, in Markdown, that come from the document: of
// claims the sentence and what was printed, else those under a head that ends with "printed".
func printedCells(page string) map[string]string {
	cells := make(map[string]string)
	var title string
	var heads []string
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			title, heads = line, nil
		case !strings.HasPrefix(line, "|"), strings.HasPrefix(line, "|-"):
		case heads == nil:
			heads = splitCells(line)
		default:
			row := splitCells(line)
			for i, head := range heads {
				if strings.HasSuffix(head, "printed") && !strings.HasPrefix(head, "÷") || head == "the document says" {
					cells[fmt.Sprintf("%s, %s, %s", title, row[0], head)] = row[i]
				}
			}
		}
	}
	return cells
}

// splitCells splits a line of a table in Markdown.
func splitCells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |")
	return strings.Split(line, " | ")
}
