package iotdb

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// readDocs returns the rows of the tables of docs/iotdb.md whose head begins with a word, by the
// text in their first column.
func readDocs(t *testing.T, head string, columns int) [][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/iotdb.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	inside := false
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == head && len(cells) == columns:
			inside = true
		case !strings.HasPrefix(line, "|"):
			inside = false
		case inside && !strings.HasPrefix(cells[0], "---"):
			cells[0] = strings.Trim(cells[0], "`")
			rows = append(rows, cells)
		}
	}
	return rows
}

// The table of operations says of each what its queries are.
func TestOperationsAreDocumented(t *testing.T) {
	spec := base()
	var want [][]string
	for _, kind := range Workload().QueryTypes() {
		sequence, err := Workload().Queries(spec, kind.Name, 1)
		if err != nil {
			t.Fatal(err)
		}
		queries := slices.Collect(sequence)
		q := &queries[0]
		_, limited := q.Shape.(query.AnyRows)
		yes := map[bool]string{false: "no", true: "yes"}
		want = append(want, []string{kind.Name, windowOf(q), yes[q.Filter != nil], rowsOfAnswer(q),
			map[query.Order]string{query.Unordered: "any", query.Descending: "newest first"}[q.Order()],
			map[bool]string{false: "no", true: "any N rows"}[limited],
		})
		if columns := q.Columns(&series.Table{Tags: []series.Tag{{Key: DeviceTag}}, Fields: []series.Field{{Name: q.NamedFields()[0]}}}); !slices.Contains(columns, query.Column{Name: DeviceTag, Kind: query.Text}) {
			t.Errorf("%s has the columns %v", kind.Name, columns)
		}
	}
	var got [][]string
	for _, cells := range readDocs(t, "operation", 8) {
		if tool := Operation(cells[0]); !strings.HasSuffix(cells[2], " "+tool) && cells[0] != "limit" && cells[0] != "value-range-limit" {
			t.Errorf("%s is %q to the tool, want %s", cells[0], cells[2], tool)
		}
		got = append(got, slices.Concat(cells[:1], cells[3:]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/iotdb.md has other operations (-code +page):\n%s", diff)
	}
}

func windowOf(q *query.Query) string {
	const span = 250 * time.Second
	switch length := q.End.Sub(q.Start); {
	case q.End.IsZero():
		return "all"
	case length == instant:
		return "one point in time"
	case length == span+instant:
		return "closed"
	case length == span:
		return "half-open"
	}
	return "unknown"
}

func rowsOfAnswer(q *query.Query) string {
	return map[string]string{"rows": "rows", "totals": "one a device", "last": "one a device", "buckets": "one a device and bucket"}[q.ShapeName()]
}

// A setting with its default value means the same as without it.
func TestDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		options []option.Option
		of      func(*workload.Spec) workload.Settings
	}{
		"iotdb":         {Workload().Settings(), func(s *workload.Spec) workload.Settings { return s.Settings }},
		"iotdb-queries": {Workload().QuerySettings(), func(s *workload.Spec) workload.Settings { return s.QuerySettings }},
	} {
		for _, o := range c.options {
			if o.Default == "" {
				continue
			}
			spec := base()
			if o.Name != "late" {
				spec.Settings["iotdb.late"] = "0.1" // which others need
			}
			want, err := readAll(spec)
			if err != nil {
				t.Fatal(err)
			}
			c.of(&spec)["iotdb."+o.Name] = o.Default
			if got, err := readAll(spec); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s: %s is not the default, or: %v", name, o.Name, o.Default, err)
			}
		}
	}
}

// readAll returns what settings and parameters of queries mean.
func readAll(spec workload.Spec) (all [2]any, err error) {
	s, err := read(spec)
	if err != nil {
		return all, err
	}
	a, err := readParameters(spec)
	return [2]any{*s, a}, err
}
