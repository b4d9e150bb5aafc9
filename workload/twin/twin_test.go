package twin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
	"github.com/tsmark/tsmark/workload/twin"
	"github.com/tsmark/tsmark/workload/workloadtest"
)

// model has each property that rows can have.
const model = `
precision: 1ms
groups:
- series: 12
  series-per-value: [2, 4]
  tags:
  - {name: host, values: 4, grows: true, length: 12}
  - {name: cpu, values: 5, missing: 0.1}
  - {name: region, values: 2, of: host, shares: [0.7]}
  tables:
  - name: usage
    regular: true
    interval: [1, 1, 2]
    jitter: 0.05
    aligned: true
    gaps: {share: 0.02, lengths: [1, 4]}
    late: {share: 0.03, delays: [30s, 2m]}
    fields:
    - {name: user, type: float, class: daily, digits: 2, level: [10, 30], spread: [3], residual: [-2, -1, 0, 1, 2], autocorrelation: 0.9, low: 0, high: 100, shape: [0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,0,0,0,0,0], nulls: 0.1}
    - {name: total, type: int, class: counter, level: [5], spread: [2], residual: [-1, 0, 1], resets: 0.001, start: 1000}
    - {name: state, type: text, class: category, shares: [0.6, 0.3], further-categories: 3, further-categories-share: 0.1, changes: 0.05, lengths: [4, 9], absent: 0.3}
    - {name: code, type: int32, class: codes, values: [200, 404], shares: [0.9, 0.1], changes: 0.2}
    - {name: on, type: bool, class: category, shares: [0.5, 0.5], changes: 0.01}
    - {name: seen, type: timestamp, class: noise, level: [-5], spread: [1], residual: [-1, 1], relative: true, digits: 3}
    levels-correlate: [{fields: [user, total], r: 0.9}]
  - name: events
    series-share: 0.5
    regular: false
    interval: [3, 9]
    spacing: [0.1, 0.4, 1, 2.5]
    fields:
    - {name: note, type: text, class: text, lengths: [3, 20], nulls: 0.2}
    - {name: kind, type: text3, class: category, shares: [0.5, 0.5], changes: 1}
`

func spec(scale uint32, hours int) workload.Spec {
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	return workload.Spec{
		Name: twin.Name, Seed: 1, Scale: scale, Start: start, End: start.Add(time.Duration(hours) * time.Hour), Interval: 10 * time.Second,
		Settings: workload.Settings{twin.ModelKey: model},
	}
}

func open(t testing.TB, s workload.Spec) workload.Dataset {
	t.Helper()
	return workloadtest.Open(t, twin.Workload(), s)
}

// text returns a row: its table, values of tags and of fields, and time.
func text(run *series.Run, row int) string {
	var out strings.Builder
	out.WriteString(run.Table.Name)
	for i := range run.Table.Tags {
		value, _ := run.Table.Tags[i].Values.Append(nil, run.Series[row])
		fmt.Fprintf(&out, " %q", value)
	}
	for f := range run.Columns {
		switch c, field := &run.Columns[f], &run.Table.Fields[f]; {
		case run.Lacks(f, row):
			out.WriteString(" NULL")
		case field.Type.Textual():
			fmt.Fprintf(&out, " %q", c.AppendText(nil, row, field.Length))
		case field.Type.UsesInts():
			fmt.Fprintf(&out, " %d", c.Ints[row])
		default:
			fmt.Fprintf(&out, " %v", c.Floats[row])
		}
	}
	return out.String() + time.Unix(0, run.Times[row]).UTC().Format(" "+time.RFC3339Nano)
}

func TestDeterminism(t *testing.T) {
	w := twin.Workload()
	workloadtest.Determinism(t, w, spec(3, 2), text)
	if workload.Fingerprint(w, spec(3, 2)) == workload.Fingerprint(w, spec(4, 2)) {
		t.Error("another scale has the same fingerprint")
	}
}

func TestGolden(t *testing.T) { workloadtest.Golden(t, open(t, spec(3, 2)), 50, text) }

// TestScale checks that scale multiplies series, that each has tags and times of its own, and that the
// bounds which the description states hold.
func TestScale(t *testing.T) {
	for _, scale := range []uint32{1, 100} {
		s := spec(scale, 1)
		if scale > 1 {
			s.End = s.Start.Add(10 * time.Minute)
		}
		d := open(t, s)
		if n := d.Schema().Series; n != 12*scale {
			t.Errorf("scale %d: %d series", scale, n)
		}
		about := twin.Workload().Describe(s)
		tags, seen, newest := map[string]bool{}, map[string]bool{}, map[string]int64{}
		rows, late := int64(0), 0
		var b series.Batch
		for r := d.Open(); r.Next(&b, 500) == nil; {
			for i := range b.Runs {
				run := &b.Runs[i]
				for row, at := range run.Times {
					key := run.Table.Name
					for _, tag := range run.Table.Tags {
						value, ok := tag.Values.Append(nil, run.Series[row])
						key += fmt.Sprintf(" %s %v", value, ok)
						if ok && tag.Key == "host" && len(value) < 12 {
							t.Fatalf("%s is shorter than 12 bytes", value)
						}
					}
					tags[key] = true
					rows++
					if last, ok := newest[key]; ok && at < last {
						late++
					}
					newest[key] = max(newest[key], at)
					if key = fmt.Sprint(key, at); seen[key] {
						t.Fatalf("%s is there twice", key)
					}
					seen[key] = true
					if at < s.Start.UnixNano() || at >= s.End.UnixNano() || at%1e6 != 0 {
						t.Fatalf("time %d is out of bounds", at)
					}
					for f := range run.Columns {
						if run.Table.Dense && run.Lacks(f, row) {
							t.Fatalf("NULL in the dense table %s", run.Table.Name)
						}
					}
				}
			}
		}
		// Half of the series have rows in the second table.
		if n := len(tags); n != int(18*scale) {
			t.Errorf("scale %d: %d series have rows, want %d", scale, n, 18*scale)
		}
		if rows > about.RowsAtMost || float64(rows) < 0.9*float64(about.RowsAtMost) {
			t.Errorf("scale %d: %d rows, at most %d", scale, rows, about.RowsAtMost)
		}
		if share := float64(late) / float64(rows); share < 0.01 || share > 0.05 {
			t.Errorf("scale %d: %.3f of the rows are late", scale, share)
		}
	}
}

// TestProposals checks that query types are generated for the larger table.
func TestProposals(t *testing.T) {
	w, s := twin.Workload(), spec(10, 2)
	list, _ := w.(interface {
		ProposeQueries(workload.Spec) ([]ownqueries.Query, []string)
	}).ProposeQueries(s)
	names := map[string]bool{}
	for _, q := range list {
		names[q.Name] = q.Table == "usage"
	}
	for _, want := range []string{"lastpoint", "above-threshold", "by-region"} {
		if !names[want] {
			t.Errorf("no type %s of table usage: %v", want, names)
		}
	}
	if err := ownqueries.Fit(list, w, s); err != nil {
		t.Error(err)
	}
}

// TestMistakes checks the errors of models that users have changed.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"precision: 1ms", "precision: 1h", "precision must be 1ns to 1s"},
		{"series: 12", "serieses: 12", `unknown field "serieses"`},
		{"grows: true, ", "", "one tag without of must have grows: true"},
		{"of: host", "of: region", `of "region" must be another tag`},
		{"type: int32", "type: number", `field code: type "number" is unknown`},
		{"class: counter", "class: count", `field total: class "count" is unknown`},
		{"nulls: 0.1", "nulls: 2", "field user: shares must be 0 to 1"},
		{"interval: [1, 1, 2]", "interval: [0, 1]", "table usage: interval must have numbers greater than 0"},
		{"interval: [1, 1, 2]", "interval: [.inf]", "table usage: interval must have finite numbers"},
		{"interval: [1, 1, 2]", "interval: [1e-6]", "log-interval"},
		{"values: [200, 404]", "values: [200]", "field code: values and shares must be lists of the same length"},
		{"[user, total]", "[user, totals]", "levels-correlate"},
	} {
		s := spec(1, 1)
		changed := strings.Replace(model, c.from, c.to, 1)
		s.Settings = workload.Settings{twin.ModelKey: changed}
		if err := twin.Workload().Check(s); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %s", c.to, err, c.want)
		}
	}
}

func TestMemory(t *testing.T) { workloadtest.Memory(t, open(t, spec(20, 48)), 0.0001) }

// BenchmarkRows generates rows of six fields and of two.
func BenchmarkRows(b *testing.B) {
	d := open(b, spec(100, 24))
	rows := 0
	b.ReportAllocs()
	for b.Loop() {
		var batch series.Batch
		for r := d.Open(); r.Next(&batch, 10_000) == nil; {
			rows += batch.Rows()
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
