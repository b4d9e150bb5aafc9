package iotdb

import (
	"testing"

	"github.com/tsmark/tsmark/query"
)

// Rows of devices add up, whatever statement they come by and in whatever order; NULL is
// no value.
func TestRowsOfDevicesAddUp(t *testing.T) {
	told := &toldRows{values: map[string]query.Value{}}
	for _, rows := range [][][]query.Value{
		{{text("a"), whole(3), whole(50), whole(70), real(1.5), real(-2), real(2)}, {text("b"), whole(0), {}, {}, {}, {}, {}}},
		{{text("c"), whole(4), whole(20), whole(60), real(0.25), real(-1), real(9)}},
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
	for name, want := range map[string]query.Value{"n": whole(7), "t0": whole(20), "t1": whole(70), "s0": real(1.75), "a0": real(-2), "z0": real(9)} {
		if got := told.values[name]; got.Kind != want.Kind || got.Int != want.Int || got.Float != want.Float {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if err := told.columns([]string{"n", "n"}, nil); err == nil {
		t.Error("two columns of one name")
	}
}
