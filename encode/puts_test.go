package encode_test

import (
	"testing"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// Each point is written with its metric and tags; a row without values has a point of its own.
func TestPuts(t *testing.T) {
	table := &series.Table{
		Name: "m", Tags: []series.Tag{{Key: "h", Values: tagged{"a", ""}}},
		Fields: []series.Field{{Name: "whole", Type: series.Int}, {Name: "float", Type: series.Float}},
	}
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 2}
	var b series.Batch
	run := b.Add(table)
	run.Grow(3)
	copy(run.Series, []uint32{0, 1, 0})
	copy(run.Times, []int64{1e9, 1e9, 3_001_999_999})
	copy(run.Columns[0].Ints, []int64{7, -8, 0})
	copy(run.Columns[1].Floats, []float64{0.25, 0, 0})
	for i := range run.Columns {
		run.Columns[i].Nulls = make(series.Bitmap, 1)
		run.Columns[i].Nulls.Set(2)
	}
	run.Columns[1].Nulls.Set(1)
	puts := encode.Puts{
		Metric: func(t *series.Table, field string) string { return t.Name + "." + field }, Name: func(s string) string { return s + s },
		Null: "null", Untagged: [2]string{"no", "tag"},
	}
	want := `[{"metric":"m.whole","timestamp":1000,"value":7,"tags":{"hh":"aa"}},` +
		`{"metric":"m.float","timestamp":1000,"value":0.25,"tags":{"hh":"aa"}},` +
		`{"metric":"m.whole","timestamp":1000,"value":-8,"tags":{"no":"tag"}},` +
		`{"metric":"m.null","timestamp":3001,"value":1,"tags":{"hh":"aa"}}]`
	check := func(want string) {
		t.Helper()
		e := puts.New(schema)
		for range 2 { // by memory that is used again
			if got := string(e.Append(nil, &b)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
	check(want)
	puts.Metric = func(t *series.Table, _ string) string { return t.Name }
	puts.Tag = func(_, field string) (key, value string) { return "field", field }
	check(`[{"metric":"m","timestamp":1000,"value":7,"tags":{"hh":"aa","field":"whole"}},` +
		`{"metric":"m","timestamp":1000,"value":0.25,"tags":{"hh":"aa","field":"float"}},` +
		`{"metric":"m","timestamp":1000,"value":-8,"tags":{"no":"tag","field":"whole"}},` +
		`{"metric":"m","timestamp":3001,"value":1,"tags":{"hh":"aa","field":"null"}}]`)
}
