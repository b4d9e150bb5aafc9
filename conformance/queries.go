package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// goldenTypes are query types that cover all shapes, and all variations of their
// texts: a group, an order, a limit, a condition, a filter by number and by name.
func goldenTypes() map[string][]string {
	return map[string][]string{
		tsbs.CPUOnly().Name(): {"single-groupby-5-8-1", "double-groupby-1", "groupby-orderby-limit", "high-cpu-1", "lastpoint"},
		tsbs.IoT().Name(): {"last-loc", "low-fuel", "high-load", "stationary-trucks", "long-driving-sessions", "avg-vs-projected-fuel-consumption",
			"avg-daily-driving-duration", "avg-daily-driving-session", "avg-load", "daily-activity", "breakdown-frequency"},
		iotdb.Workload().Name(): {"precise-point", "value-range", "value-range-limit", "agg-time-value", "group-by-time-desc", "set-operation"},
	}
}

// Queries compares how a driver with the options renders queries of every shape,
// with the parameters that are drawn for the seed 123, with the file
// testdata/NAME beside the test. With update it writes the file.
func Queries(t *testing.T, of driver.Driver, options map[string]string, name string, update bool) {
	t.Helper()
	resolved, err := of.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	spec := workload.Spec{
		Seed: 123, Scale: 100, Interval: 10 * time.Second,
		Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC),
		End:   time.Date(2016, 1, 4, 0, 0, 0, 0, time.UTC),
	}
	var text strings.Builder
	show := func(shape, about string, q *query.Query, s *series.Schema) {
		request, err := of.Render(q, s, resolved)
		if errors.Is(err, query.ErrUnsupported) {
			request.Text, err = "n/a: "+err.Error(), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "-- %s: %s\n\n%s\n\n", shape, about, request.Text)
	}
	shapes := map[string]bool{}
	var filtered query.Query
	var schema *series.Schema // its
	for _, use := range []workload.Workload{tsbs.CPUOnly(), tsbs.IoT(), iotdb.Workload()} {
		if spec.Name = use.Name(); spec.Name == iotdb.Workload().Name() {
			spec.QuerySettings = workload.Settings{"iotdb.devices": "2", "iotdb.sensors": "2", "iotdb.aggregate": "max"}
		}
		dataset, err := use.Dataset(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, queryType := range goldenTypes()[spec.Name] {
			sequence, err := use.Queries(spec, queryType, 1)
			if err != nil {
				t.Fatal(err)
			}
			q := &slices.Collect(sequence)[0]
			shape := strings.TrimPrefix(fmt.Sprintf("%T", q.Shape), "query.")
			shapes[shape] = true
			show(shape, queryType+" of "+spec.Name, q, dataset.Schema())
			if queryType == "value-range" {
				filtered, schema = *q, dataset.Schema()
			}
		}
	}
	for _, c := range []query.Comparison{query.Less, query.Equal} {
		q := filtered
		f := *q.Filter
		f.Compare = c
		q.Filter = &f
		show("Rows", "value-range of iotdb, with "+c.String(), &q, schema)
	}
	if of.RenderFrom != nil {
		text.WriteString(fromAggregate(t, of, resolved, spec))
	}
	if len(shapes) != 13 {
		t.Errorf("only these shapes are shown: %v", shapes)
	}
	text.WriteString(ofTicks(t, of, resolved))
	golden(t, filepath.Join("testdata", name), text.String(), update)
}

// ofTicks renders a query of each shape of ticks, if the driver renders any.
func ofTicks(t *testing.T, of driver.Driver, options driver.Options) string {
	t.Helper()
	tags := []series.Tag{{Key: "symbol"}, {Key: "exchange"}}
	schema := &series.Schema{Tables: []*series.Table{
		{Name: "trades", Tags: tags, Dense: true, Fields: []series.Field{{Name: "price", Type: series.Float, Decimals: 4}, {Name: "size", Type: series.Int}, {Name: "condition", Type: series.Text, Length: 7}}},
		{Name: "quotes", Tags: tags, Dense: true, Fields: []series.Field{{Name: "bid", Type: series.Float, Decimals: 4}, {Name: "ask", Type: series.Float, Decimals: 4}}},
	}}
	var text strings.Builder
	rendered := false
	asOf := query.AsOf{By: "symbol", Fields: []string{"price"}, Right: "quotes", RightFields: []string{"bid", "ask"}}
	tolerant := asOf
	tolerant.Tolerance = 1500 * time.Millisecond
	for _, shape := range []query.Shape{
		query.Candles{Price: "price", Size: "size", Width: time.Minute, By: "symbol"},
		query.Weighted{Value: "price", Weight: "size", Width: time.Minute, By: "symbol"}, asOf, tolerant,
		query.Around{By: "symbol", Fields: []string{"price"}, Right: "quotes", Field: "ask", Minus: "bid", Before: time.Second, After: 250 * time.Millisecond},
		query.Movers{Field: "price", By: "symbol", Top: 10}, query.Gaps{Field: "price", By: "symbol", Longer: 30 * time.Second},
		query.Profile{Field: "size", Width: 5 * time.Minute},
		query.Nth{By: "symbol", Event: "condition", Is: "opening", N: 10, Fields: []string{"price"}},
	} {
		q := query.Query{Type: "ticks", Table: "trades", Shape: shape, In: &query.TagIn{Key: "symbol", Values: []string{"ACME", "O'B"}},
			Start: time.Date(2024, 1, 5, 14, 30, 0, 0, time.UTC), End: time.Date(2024, 1, 5, 21, 0, 0, 0, time.UTC)}
		request, err := of.Render(&q, schema, options)
		switch {
		case errors.Is(err, query.ErrUnsupported):
			request.Text = "n/a: " + err.Error()
		case err != nil:
			t.Fatal(err)
		default:
			rendered = true
		}
		fmt.Fprintf(&text, "-- %s\n\n%s\n\n", strings.TrimPrefix(fmt.Sprintf("%T", shape), "query."), request.Text)
	}
	if !rendered {
		return ""
	}
	return text.String()
}

// fromAggregate renders queries that an aggregate answers: with a mean over
// two of its buckets, and with the largest values of buckets of its own.
func fromAggregate(t *testing.T, of driver.Driver, options driver.Options, spec workload.Spec) string {
	t.Helper()
	use := tsbs.CPUOnly()
	spec.Name, spec.QuerySettings = use.Name(), nil
	dataset, err := use.Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, shown := range []struct {
		queryType string
		m         query.Materialized
	}{
		{"double-groupby-1", query.Materialized{Table: "cpu", Bucket: 30 * time.Minute, Aggregates: []query.Aggregate{query.Avg}, Fields: []string{"usage_user"}}},
		{"cpu-max-all-1", query.Materialized{Table: "cpu", Bucket: time.Hour, Aggregates: []query.Aggregate{query.Max}, Fields: fieldNames(dataset.Schema().Table("cpu"))}},
	} {
		queryType, m := shown.queryType, &shown.m
		sequence, err := use.Queries(spec, queryType, 1)
		if err != nil {
			t.Fatal(err)
		}
		q := &slices.Collect(sequence)[0]
		q.Align()
		request, err := of.RenderFrom(q, m, dataset.Schema(), options)
		if errors.Is(err, query.ErrUnsupported) {
			request.Text, err = "n/a: "+err.Error(), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("-- Buckets: %s of %s, from the aggregate %s\n\n%s\n\n", queryType, spec.Name, m.Name(), request.Text)
	}
	return text
}

func fieldNames(t *series.Table) []string {
	var names []string
	for i := range t.Fields {
		names = append(names, t.Fields[i].Name)
	}
	return names
}

// Golden compares a text with the file testdata/NAME beside the test. With update it writes the file.
func Golden(t *testing.T, name, got string, update bool) {
	t.Helper()
	golden(t, filepath.Join("testdata", name), got, update)
}

// golden compares a text with a file's, or writes the file.
func golden(t *testing.T, path, got string, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update, and read the file that it wrote", err)
	}
	is, was := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(is), len(was)) {
		if i >= len(is) || i >= len(was) || is[i] != was[i] {
			t.Fatalf("%s differs from line %d on; if the new texts are correct, run the test with -update and review the difference\ngot:\n%s",
				path, i+1, strings.Join(is[min(i, len(is)):min(i+20, len(is))], "\n"))
		}
	}
}
