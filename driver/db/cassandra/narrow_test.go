package cassandra

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/kit/fold"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Partitions are called as TSBS calls them, and their names are read back.
func TestPlaces(t *testing.T) {
	table := &series.Table{Name: "cpu", Tags: []series.Tag{
		{Key: "hostname", Values: conformance.Names{"host_0", "a,b=c\\d", conformance.Missing}}, {Key: "region", Values: conformance.Names{"eu", "#", conformance.Missing}},
	}}
	day := time.Date(2016, 1, 2, 0, 0, 0, 0, time.UTC).UnixNano()
	for of, want := range []string{
		"cpu,hostname=host_0,region=eu#usage_user#2016-01-02", `cpu,hostname=a\,b\=c\\d,region=##usage_user#2016-01-02`, "cpu#usage_user#2016-01-02",
	} {
		key := appendKey(nil, table, uint32(of))
		id := string(appendPlace(slices.Clone(key), "usage_user", day))
		if id != want {
			t.Errorf("%s, want %s", id, want)
		}
		if k, field, ok := splitPartition(id); !ok || k != string(key) || field != "usage_user" || !belongs(k, table) {
			t.Errorf("%s is read as %q, %q", id, k, field)
		}
	}
	if belongs("cpus,a=b", table) || belongs("mem", table) {
		t.Error("a series of another table is one of cpu")
	}
	if _, _, ok := splitPartition("cpu#2016"); ok {
		t.Error("a name without a field has one")
	}
}

// Each value is in a batch of its partition; a row without any has one of its own, and one
// that comes again goes in a later batch.
func TestDivideValues(t *testing.T) {
	o, err := new(Driver()).Resolve(map[string]string{optionLayout: layoutNarrow})
	if err != nil {
		t.Fatal(err)
	}
	table := &series.Table{
		Name: "m", Tags: []series.Tag{{Key: "h", Values: conformance.Names{"a", "b"}}},
		Fields: []series.Field{{Name: "whole", Type: series.Int}, {Name: "float", Type: series.Float}},
	}
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 2}
	var b series.Batch
	run := b.Add(table)
	run.Grow(5)
	copy(run.Series, []uint32{0, 0, 0, 1, 0})
	hour := int64(time.Hour)
	copy(run.Times, []int64{hour, 2 * hour, 25 * hour, hour, 2 * hour})
	for i := range run.Columns {
		run.Columns[i].Nulls = make(series.Bitmap, 1)
		run.SetNull(i, 3)
	}
	run.SetNull(1, 0)
	w := newWriter(&database{link: newLink(o), layout: newLayout(o)}, schema)
	for range 2 { // by memory that is used again
		if _, err := w.encode(&b); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, batch := range w.batches {
			text := strings.Repeat("+", int(batch.later))
			for _, e := range batch.entries {
				text += string(e.Args[0].(*cell).text) + " "
			}
			got = append(got, strings.TrimSpace(text))
		}
		want := []string{
			"m,h=a#whole#1970-01-01 m,h=a#whole#1970-01-01", "+m,h=a#whole#1970-01-01", "m,h=a#float#1970-01-01", "+m,h=a#float#1970-01-01",
			"m,h=a#whole#1970-01-02", "m,h=a#float#1970-01-02", "m,h=b#" + metric.NullField + "#1970-01-01",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// TestJoined checks that values of equal time form a row, and that rows not above a threshold are
// dropped.
func TestJoined(t *testing.T) {
	above := 2.0
	p := &narrowPlan{Shown: 1, Filter: &above, Fields: []narrowField{{Name: "a"}, {Name: "b", Filter: true}}}
	number := func(v int64) query.Value { return query.Value{Kind: query.Int, Int: v} }
	read := []values{
		{times: []int64{1, 3}, of: []query.Value{number(10), number(30)}},
		{times: []int64{1, 2, 3, 4}, of: []query.Value{number(1), number(5), number(6), {}}},
	}
	var got []string
	for row := range joinRows(p, read) {
		got = append(got, query.RowText(row))
	}
	if want := []string{"1970-01-01T00:00:00.000000002Z, NULL", "1970-01-01T00:00:00.000000003Z, 30"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Rows are folded to what the statement of the wide layout answers.
func TestAggregates(t *testing.T) {
	f := &fold.Fold{Buckets: true, Width: 1000, Parts: []fold.Part{{Make: "avg"}, {Make: "max"}, {Make: "count"}, {Make: "tag"}}}
	second := int64(time.Second)
	value := func(v float64) query.Value { return query.Value{Kind: query.Float, Float: v} }
	rows := func(yield func([]query.Value) bool) {
		for i, v := range []query.Value{value(1), value(3), {}, value(7)} {
			at := query.Value{Kind: query.Time, Int: int64(i) * second / 2}
			if !yield([]query.Value{at, v, v, v}) {
				return
			}
		}
	}
	var got []string
	if err := f.Aggregates(rows, func(row []query.Value) error {
		got = append(got, query.RowText(row))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"1970-01-01T00:00:00Z, 2, 4, 2, 3, 2", "1970-01-01T00:00:01Z, 2, 7, 1, 7, 1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
