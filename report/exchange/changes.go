// Package exchange writes runs for other programs: for tools that look for change points, as metrics, and
// every operation as a Parquet file.
package exchange

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/trend"
	"github.com/tsmark/tsmark/report/write"
)

// metricName returns the name of a figure: letters, digits, hyphens and underscores, at most 50, as Nyrkiö
// takes them.
func metricName(f *trend.Figure) string {
	name := f.Subject + "-" + string(f.Metric)
	if f.Subject == compare.AllTypes || f.Subject == compare.LoadSubject {
		name = string(f.Metric)
	}
	const most = 50
	name = regexp.MustCompile(`[^a-zA-Z0-9_-]+`).ReplaceAllString(name, "-")
	return name[max(0, len(name)-most):]
}

// unit returns the unit of a figure.
func unit(f *trend.Figure) string {
	if f.Unit == trend.Ratio {
		return ""
	}
	return string(f.Unit)
}

// Nyrkio writes a trend as the results of a test of Nyrkiö (POST /api/v0/result/TEST), which Otava's JSON importer
// reads as well. Figures that a run lacks are missing there.
func Nyrkio(w io.Writer, t *trend.Trend) error {
	type metric struct {
		Name      string  `json:"name"`
		Unit      string  `json:"unit,omitempty"`
		Value     float64 `json:"value"`
		Direction string  `json:"direction"`
	}
	type runResult struct {
		Timestamp  int64             `json:"timestamp"` // seconds
		Metrics    []metric          `json:"metrics"`
		Attributes map[string]string `json:"attributes"`
	}
	results := []runResult{}
	for i, r := range t.Runs {
		one := runResult{Timestamp: r.Started.Unix(), Metrics: []metric{}, Attributes: map[string]string{"run": r.ID, "version": r.System, "tsmark": r.Tool}}
		for j := range t.Figures {
			f := &t.Figures[j]
			if v := f.Points[i].Value; v > 0 {
				one.Metrics = append(one.Metrics, metric{metricName(f), unit(f), v, string(f.Better) + "_is_better"})
			}
		}
		if len(one.Metrics) > 0 {
			results = append(results, one)
		}
	}
	return write.WriteJSON(w, results)
}

// complete returns the figures that all runs have, and the names of others.
func complete(t *trend.Trend) (figures []*trend.Figure, others []string) {
	for i := range t.Figures {
		f := &t.Figures[i]
		known := true
		for _, p := range f.Points {
			known = known && p.Value > 0
		}
		if known {
			figures = append(figures, f)
		} else {
			others = append(others, metricName(f))
		}
	}
	return figures, others
}

// Otava writes a trend as CSV for Apache Otava, a line for each run. Otava refuses empty cells, so it has only
// figures that all runs have, and returns the names of others.
func Otava(w io.Writer, t *trend.Trend) (leftOut []string, err error) {
	figures, leftOut := complete(t)
	type line = int // of a run
	type column write.Column[line]
	columns := []column{
		{"time", "", "", func(i line) any { return t.Runs[i].Started.UTC().Format("2006-01-02 15:04:05 +0000") }},
		{"run", "", "", func(i line) any { return t.Runs[i].ID }},
		{"version", "", "", func(i line) any { return t.Runs[i].System }},
		{"tsmark", "", "", func(i line) any { return t.Runs[i].Tool }},
	}
	for _, f := range figures {
		columns = append(columns, column{metricName(f), "", "", func(i line) any { return f.Points[i].Value }})
	}
	lines := make([]line, len(t.Runs))
	for i := range lines {
		lines[i] = i
	}
	return leftOut, write.WriteCSV(w, columns, lines)
}

// OtavaConfig writes the configuration with which Otava reads the CSV in a file: the test has the name of the
// target.
func OtavaConfig(w io.Writer, t *trend.Trend, file string) error {
	figures, _ := complete(t)
	var b strings.Builder
	quote := strconv.Quote // a string of JSON is one of YAML
	fmt.Fprintf(&b, "tests:\n  %s:\n    type: csv\n    file: %s\n    time_column: time\n    attributes: [run, version, tsmark]\n    metrics:\n", quote(metricTarget(t)), quote(filepath.ToSlash(file)))
	for _, f := range figures {
		direction := 1 // higher is better
		if f.Better == compare.Lower {
			direction = -1
		}
		fmt.Fprintf(&b, "      %s: {column: %s, direction: %d, scale: 1}\n", quote(metricName(f)), quote(metricName(f)), direction)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// metricTarget names the test.
func metricTarget(t *trend.Trend) string {
	if t.Reference != "" {
		return t.Target + "/" + t.Reference
	}
	return t.Target
}
