package result

import (
	"slices"
	"testing"
)

// What workers took adds up worker by worker, unless a repeat does not know it.
func TestPoolAccumulated(t *testing.T) {
	one := Queries{Values: 20, Accumulated: []float64{1, 5}}
	other := Queries{Values: 30, Accumulated: []float64{4, 0.5, 2}}
	if got := pooledType(t, one, other); !slices.Equal(got.Accumulated, []float64{5, 5.5, 2}) || got.Values != 50 {
		t.Errorf("pooled %v, %d values", got.Accumulated, got.Values)
	}
	if got := pooledType(t, one, other, Queries{}); got.Accumulated != nil {
		t.Errorf("pooled %v though a repeat has recorded none", got.Accumulated)
	}
	if one.Accumulated[0] != 1 {
		t.Error("a repeat changed")
	}
}
