package encode_test

import (
	"testing"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// tagged is the values of a tag; an empty one stands for none.
type tagged []string

func (v tagged) Append(dst []byte, s uint32) ([]byte, bool) { return append(dst, v[s]...), v[s] != "" }

// A batch is each metric of each series once, with its points in the order of the rows.
func TestDataPoints(t *testing.T) {
	table := &series.Table{
		Name: "m", Tags: []series.Tag{{Key: "host", Values: tagged{`a"b`, ""}}, {Key: "size", Type: series.Float, Values: tagged{"1.5", ""}}},
		Fields: []series.Field{{Name: "whole", Type: series.Int}, {Name: "float", Type: series.Float}},
	}
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 2}
	var b series.Batch
	run := b.Add(table)
	run.Grow(4)
	copy(run.Series, []uint32{0, 1, 0, 0})
	copy(run.Times, []int64{1e9, 1e9, 2e9, 3_001_999_999})
	copy(run.Columns[0].Ints, []int64{7, -8, 0, 9})
	copy(run.Columns[1].Floats, []float64{0.25, 0, 1e30, 4})
	for i := range run.Columns {
		run.Columns[i].Nulls = make(series.Bitmap, 1)
		run.Columns[i].Nulls.Set(2)
	}
	run.Columns[1].Nulls.Set(1)
	points := encode.DataPoints{Metric: func(t *series.Table, field string) string { return t.Name + "." + field }, Null: "null", Untagged: [2]string{"no", "tag"}}
	const tags = `"tags":{"host":"a\"b","size":"1.5"}`
	want := `[{"name":"m.whole","type":"long",` + tags + `,"datapoints":[[1000,7],[3001,9]]},` +
		`{"name":"m.float","type":"double",` + tags + `,"datapoints":[[1000,0.25],[3001,4]]},` +
		`{"name":"m.null","type":"long",` + tags + `,"datapoints":[[2000,1]]},` +
		`{"name":"m.whole","type":"long","tags":{"no":"tag"},"datapoints":[[1000,-8]]}]`
	for range 2 { // by memory that is used again
		if got := string(points.New(schema).Append(nil, &b)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
