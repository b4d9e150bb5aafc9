package iotdb

import (
	"testing"

	"github.com/tsmark/tsmark/query"
)

func text(s string) query.Value    { return query.Value{Kind: query.Text, Text: []byte(s)} }
func real(v float64) query.Value   { return query.Value{Kind: query.Float, Float: v} }
func intValue(n int64) query.Value { return query.Value{Kind: query.Int, Int: n} }

// Rows of devices add up, whatever statement they come by and in whatever order; NULL is
// no value.
func TestRowsOfDevicesAddUp(t *testing.T) {
	sums := &rowSums{values: map[string]query.Value{}}
	for _, rows := range [][][]query.Value{
		{{text("a"), intValue(3), intValue(50), intValue(70), real(1.5), real(-2), real(2)}, {text("b"), intValue(0), {}, {}, {}, {}, {}}},
		{{text("c"), intValue(4), intValue(20), intValue(60), real(0.25), real(-1), real(9)}},
	} {
		if err := sums.columns([]string{deviceColumn, "n", "t0", "t1", "s0", "a0", "z0"}, nil); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if _, err := sums.take(row); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, want := range map[string]query.Value{"n": intValue(7), "t0": intValue(20), "t1": intValue(70), "s0": real(1.75), "a0": real(-2), "z0": real(9)} {
		if got := sums.values[name]; got.Kind != want.Kind || got.Int != want.Int || got.Float != want.Float {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if err := sums.columns([]string{"n", "n"}, nil); err == nil {
		t.Error("two columns of one name")
	}
}
