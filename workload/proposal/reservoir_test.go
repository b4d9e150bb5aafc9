package proposal

import (
	"slices"
	"testing"

	"github.com/tsmark/tsmark/series"
)

// TestReservoir checks that a sample is bounded, uniform, and without NULLs.
func TestReservoir(t *testing.T) {
	table := &series.Table{Name: "t", Fields: []series.Field{{Name: "v", Type: series.Int}, {Name: "b", Type: series.Bool}}}
	list := NewReservoirs(table, MaxReservoirs)
	if list[1] != nil || slices.ContainsFunc(NewReservoirs(table, 0), func(r *Reservoir) bool { return r != nil }) {
		t.Error("a field has a reservoir that it should not have")
	}
	r := list[0]
	for v := range 100_000 {
		r.addValue(float64(v))
	}
	sum := 0.0
	for _, v := range r.values {
		sum += v
	}
	if mean := sum / float64(len(r.values)); len(r.values) != reservoirSize || mean < 45_000 || mean > 55_000 {
		t.Errorf("%d values with a mean of %v", len(r.values), mean)
	}
}
