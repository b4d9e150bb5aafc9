package metric_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
)

func TestTally(t *testing.T) {
	var all metric.Tally
	if c, times := all.Content(), all.Times(); c.Count != 0 || c.Sum.Kind != query.Null || c.Min.Kind != query.Null || times.Max.Kind != query.Null {
		t.Errorf("without samples: %v, %v", c, times)
	}
	sample := func(at int64, value string) []query.Value {
		return []query.Value{{Kind: query.Time, Int: at}, {Kind: query.Text, Text: []byte(value)}}
	}
	for _, series := range [][][]query.Value{{sample(30, "-1.5"), sample(20, "4")}, {}, {sample(25, "1e1")}} {
		var one metric.Tally
		for _, s := range series {
			if err := one.Row(s); err != nil {
				t.Fatal(err)
			}
		}
		all.Add(&one)
	}
	c, times := all.Content(), all.Times()
	if c.Count != 3 || c.Sum.Float != 12.5 || c.Min.Float != -1.5 || c.Max.Float != 10 || times.Min.Int != 20 || times.Max.Int != 30 {
		t.Errorf("%d values, sum %v, from %v to %v, times %v to %v", c.Count, c.Sum, c.Min, c.Max, times.Min, times.Max)
	}
	for _, wrong := range [][]query.Value{nil, sample(1, "true"), {{Kind: query.Time}, {Kind: query.Float}}} {
		if all.Row(wrong) == nil {
			t.Errorf("%v was added", wrong)
		}
	}
}
