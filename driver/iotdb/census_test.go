package iotdb

import (
	"testing"

	"github.com/tsmark/tsmark/query"
)

// Rows of devices add up, whatever statement they come by and in whatever order; NULL is
// no value.
func TestRowsOfDevicesAddUp(t *testing.T) {
	told := &toldRows{values: map[string]query.Value{}}
	whole := func(n int64) query.Value { return query.Value{Kind: query.Int, Int: n} }
	float := func(x float64) query.Value { return query.Value{Kind: query.Float, Float: x} }
	device := func(name string) query.Value { return query.Value{Kind: query.Text, Text: []byte(name)} }
	for _, rows := range [][][]query.Value{
		{{device("a"), whole(3), whole(50), whole(70), float(1.5), float(-2), float(2)}, {device("b"), whole(0), {}, {}, {}, {}, {}}},
		{{device("c"), whole(4), whole(20), whole(60), float(0.25), float(-1), float(9)}},
	} {
		if err := told.columns([]string{deviceColumn, "n", "t0", "t1", "s0", "a0", "z0"}, nil); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if _, err := told.take(row); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, want := range map[string]query.Value{"n": whole(7), "t0": whole(20), "t1": whole(70), "s0": float(1.75), "a0": float(-2), "z0": float(9)} {
		if got := told.values[name]; got.Kind != want.Kind || got.Int != want.Int || got.Float != want.Float {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if err := told.columns([]string{"n", "n"}, nil); err == nil {
		t.Error("two columns of one name")
	}
}
