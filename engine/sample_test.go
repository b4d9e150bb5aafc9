package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
)

// sampledQueries returns the operations in a sample when they are offered in the given order.
func sampledQueries(s engine.Sample, order []int64) map[int64]bool {
	c := &engine.Capture{Sample: s}
	for _, n := range order {
		c.Take([]engine.Answered{{Position: n, Place: int(n), Answer: new(query.Answer)}})
	}
	found := make(map[int64]bool)
	for _, a := range c.Answers() {
		found[a.Position] = true
	}
	return found
}

func ascending(n int64) (order []int64) {
	for i := range n {
		order = append(order, i)
	}
	return order
}

// The sample has as many answers as are wanted, the same ones in whatever order they
// came and whoever brought them, and other ones by another seed or text.
func TestSample(t *testing.T) {
	order := ascending(200)
	a := sampledQueries(engine.NewSample("seed", "a", 20), order)
	slices.Reverse(order)
	if again := sampledQueries(engine.NewSample("seed", "a", 20), order); len(a) != 20 || !maps.Equal(a, again) {
		t.Errorf("%v, in reverse %v", a, again)
	}
	for _, few := range []int64{0, 1, 20} {
		if all := sampledQueries(engine.NewSample("seed", "a", 20), ascending(few)); len(all) != int(few) {
			t.Errorf("%d of %d", len(all), few)
		}
	}
	for _, other := range []engine.Sample{engine.NewSample("seed", "b", 20), engine.NewSample("other", "a", 20)} {
		same := 0
		for n := range sampledQueries(other, order) {
			if a[n] {
				same++
			}
		}
		if same > 10 { // 2 by chance
			t.Errorf("%d of 20 in common", same)
		}
	}
}

// Each operation is in the sample with the same chance, and whether the one before it is
// in it makes no difference: chi-square over many seeds, with bounds that one in a
// thousand fair samples exceeds.
func TestSampleIsRandom(t *testing.T) {
	const seeds, wanted, operations = 20_000, 20, 169
	order := ascending(operations)
	var each [operations]float64
	var pairs [2][2]float64 // neighbours: this one is kept, the next one is
	for seed := range seeds {
		found := sampledQueries(engine.NewSample(fmt.Sprint(seed), "t", wanted), order)
		for n := range int64(operations) {
			if found[n] {
				each[n]++
			}
		}
		n := int64(seed % (operations - 1))
		pairs[number(found[n])][number(found[n+1])]++
	}
	expected, sum := float64(seeds)*wanted/operations, 0.0
	for _, n := range each {
		sum += (n - expected) * (n - expected) / expected
	}
	if sum > 230 { // 168 degrees of freedom
		t.Errorf("chi-square %.1f of the chances of %d operations", sum, operations)
	}
	after, otherwise := pairs[1][1]/(pairs[1][0]+pairs[1][1]), pairs[0][1]/(pairs[0][0]+pairs[0][1])
	if d := after - otherwise; d < -0.03 || d > 0.03 { // a standard deviation is 0.007
		t.Errorf("%.3f are kept after one that is, %.3f after one that is not", after, otherwise)
	}
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
