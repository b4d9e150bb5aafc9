package report_test

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/reproduction"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/reproduce/printed"
)

// measurableMetrics are the printed metrics that tsmark has, as this test knows them.
var measurableMetrics = []string{"rows_per_s", "metrics_per_s", "queries_per_s", "mean_ms", "client_cpu_percent", "space_saved_percent", "load_s", "wall_s", "client_user_s", "client_system_s", "disk_size", "cpu_time", "data_processed_mb"}

// lineOf returns the name of a printed figure's line.
func lineOf(e *document.Experiment, f *printed.Figure) string {
	var words []string
	for _, parameter := range []string{"client", "dataset", "form", "fsync_ms", "operation", "query", "rows_per_device", "scale", "use_case", "vgroups", "workers"} {
		value, has := f.Parameters[parameter]
		if _, axis := e.Axes[parameter]; !has || !axis && !slices.Contains([]string{"form", "operation", "query"}, parameter) {
			continue
		}
		if !slices.Contains([]string{"dataset", "form", "operation", "query", "use_case"}, parameter) {
			value += " " + parameter
			if value == "1 workers" {
				value = "1 worker"
			}
		}
		words = append(words, value)
	}
	return cmp.Or(strings.Join(words, ", "), "all")
}

// tableLine identifies a line of a table.
type tableLine struct{ table, line string }

// printedOf returns the printed values that the page of an experiment must show, by line and
// head: figures, the document's own ratios, and for a line without ratios the quotients of
// its figures. Best are the numbers of figures to compute with, by line and driver.
func printedOf(d *document.Document, e *document.Experiment) (want map[tableLine]map[string]string, best map[tableLine]map[string]float64) {
	want, best = make(map[tableLine]map[string]string), make(map[tableLine]map[string]float64)
	under := func(f *printed.Figure, metric string) tableLine {
		key := tableLine{e.ID + " " + e.Name + ", " + reproduction.MetricName(metric), lineOf(e, f)}
		if want[key] == nil {
			want[key], best[key] = make(map[string]string), make(map[string]float64)
		}
		return key
	}
	ratios := make(map[tableLine]bool)
	for _, name := range e.Printed {
		for _, f := range printed.Figures(d.Number, name) {
			if s, known := d.System(f.System); known && slices.Contains(measurableMetrics, f.Metric) {
				key := under(&f, f.Metric)
				want[key][s.Driver+", printed"], best[key][s.Driver] = f.Text, f.Best()
			}
			of, to, _ := strings.Cut(f.System, "/")
			x, knownX := d.System(of)
			y, knownY := d.System(to)
			everywhere := true
			for axis := range e.Axes {
				everywhere = everywhere && f.Parameters[axis] != ""
			}
			if !knownX || !knownY || f.Metric != "ratio" && f.Metric != "ratio_percent" || !slices.Contains(measurableMetrics, f.Parameters["of"]) || !everywhere {
				continue
			}
			key := under(&f, f.Parameters["of"])
			ratios[key] = true
			if head := x.Driver + " ÷ " + y.Driver + ", printed"; want[key][head] == "" { // the text repeats the tables
				want[key][head] = map[string]string{"ratio": f.Text + "×", "ratio_percent": f.Text + format.UnitSpace + "%"}[f.Metric]
			}
		}
	}
	for key, figures := range best {
		var base string
		for _, s := range d.Systems {
			v, has := figures[s.Driver]
			if has && base != "" && !ratios[key] && figures[base] != 0 && v != 0 { // printed 0.0 is something rounded
				want[key][s.Driver+" ÷ "+base+", printed"] = format.Digits(v/figures[base]) + "×"
			}
			if has && base == "" {
				base = s.Driver
			}
		}
	}
	return want, best
}

// Every cell that a page shows as printed, of a system or of a ratio, matches the table that
// it came from; and no cell that tsmark could measure is missing.
func TestPrintedCells(t *testing.T) {
	total := 0
	for i := range document.All() {
		d := &document.All()[i]
		page := reproduction.New(d, claims.Measured{Size: document.Small})
		for j := range d.Experiments {
			e := &d.Experiments[j]
			want, _ := printedOf(d, e)
			for _, one := range page.Part(e).Tables {
				for column, c := range one.Columns {
					if !strings.HasSuffix(c.Head, ", printed") {
						continue
					}
					for _, r := range one.Rows {
						key, text := tableLine{one.Title, r.Cells[0].Text}, r.Cells[column].Text
						if expected := want[key][c.Head]; text != cmp.Or(expected, format.None) {
							t.Errorf("%s: %v, %s: %q is shown, and its table has %q", d.Name, key, c.Head, text, expected)
						}
						if text != format.None {
							total++
						}
						delete(want[key], c.Head)
					}
				}
			}
			for key, left := range want {
				for head, text := range left {
					t.Errorf("%s: %v, %s: %s is not shown", d.Name, key, head, text)
				}
			}
		}
	}
	if total < 2500 {
		t.Errorf("pages show %d printed figures", total)
	}
}

// The printed values and the claims with their sentences on the pages under results/reproduce are the same
// as on pages made today. The page in HTML has each of these texts, too. A
// document that the index does not list has no page yet.
func TestPublishedPages(t *testing.T) {
	const folder = "../results/reproduce"
	pages, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile("../results/README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed, total, quotients := 0, 0, 0
	for i := range document.All() {
		d := &document.All()[i]
		if !bytes.Contains(index, []byte("\n| ["+d.Name+"](")) {
			continue
		}
		listed++
		var today bytes.Buffer
		if err := reproduction.New(d, claims.Measured{Size: document.Small}).Write(&today, write.Markdown, write.Options{}); err != nil {
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
		if head := regexp.MustCompile(`\*\*Of (.*?)\.\*\*`).FindSubmatch(published); head == nil || !bytes.Contains(index, bytes.Replace(append([]byte("| of "), head[1]...), []byte(" claims"), nil, 1)) {
			t.Errorf("the index lacks the counts of %s.md, %q", d.Name, head)
		}
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
		quotients += checkQuotients(t, d, string(published))
	}
	if listed < 5 || len(pages) != listed {
		t.Errorf("%d pages of the %d documents that the index lists", len(pages), listed)
	}
	if total < 500 {
		t.Errorf("the pages show %d printed cells", total)
	}
	if quotients < 150 {
		t.Errorf("the pages show %d quotients of measured and printed figures", quotients)
	}
}

// checkQuotients compares the quotients of measured and printed figures in a Markdown page with the
// measured figure beside them and the printed table, as far as three digits of each
// allow. It returns the number of comparisons.
func checkQuotients(t *testing.T, d *document.Document, page string) (compared int) {
	best := make(map[tableLine]map[string]float64)
	for i := range d.Experiments {
		_, figures := printedOf(d, &d.Experiments[i])
		maps.Copy(best, figures)
	}
	var title string
	var heads []string
	for line := range strings.Lines(page) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "#"):
			title, heads = strings.TrimLeft(line, "# "), nil
		case !strings.HasPrefix(line, "|"), strings.HasPrefix(line, "|-"):
		case heads == nil:
			heads = splitCells(line)
		default:
			cells := splitCells(line)
			for i, head := range heads {
				if head != "÷ printed" {
					continue
				}
				driver := strings.TrimSuffix(heads[i-2], ", printed")
				by := best[tableLine{title, strings.ReplaceAll(cells[0], `\`, "")}][driver]
				text, _, _ := strings.Cut(strings.ReplaceAll(cells[i-1], ",", ""), " ")
				own, err := strconv.ParseFloat(text, 64)
				if err != nil || by == 0 { // nothing was measured, or it was cut off; by 0 nothing is divided
					continue
				}
				compared++
				if got, err := strconv.ParseFloat(strings.ReplaceAll(cells[i], ",", ""), 64); err != nil || math.Abs(got/(own/by)-1) > 0.011 {
					t.Errorf("%s.md: %s, %s of %s: %s is shown, and %s by %g is %.3g", d.Name, title, cells[0], driver, cells[i], cells[i-1], by, own/by)
				}
			}
		}
	}
	return compared
}

// printedCells returns the cells of a page's tables, in Markdown, that come from the document: of
// claims the sentence and the printed value, otherwise the cells under a head that ends with
// "printed".
func printedCells(page string) map[string]string {
	cells := make(map[string]string)
	var title string
	var heads []string
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			title, heads = "## "+strings.TrimLeft(line, "# "), nil
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
