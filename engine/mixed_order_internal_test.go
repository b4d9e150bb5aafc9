package engine

import (
	"slices"
	"testing"
)

func TestInterleave(t *testing.T) {
	for _, c := range []struct{ weights, want []int }{
		{[]int{1}, []int{0}},
		{[]int{1, 1, 1}, []int{0, 1, 2}},
		{[]int{5, 1, 1}, []int{0, 0, 1, 0, 2, 0, 0}},
		{[]int{1, 3}, []int{1, 0, 1, 1}},
	} {
		if got := interleave(c.weights); !slices.Equal(got, c.want) {
			t.Errorf("turns(%v) = %v, want %v", c.weights, got, c.want)
		}
	}
}
