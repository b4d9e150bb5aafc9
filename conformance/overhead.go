package conformance

import (
	"slices"
	"testing"
	"time"
)

// maxOverhead is the maximum overhead of a querier over a bare client, at the
// median.
const maxOverhead = 15 * time.Microsecond

// Overhead fails the test if a querier takes longer to query a stub that
// answers at once than a bare client of the same protocol. The two
// alternate, so that other load on the machine affects both. It logs the medians.
func Overhead(t *testing.T, bare, querier func() error) {
	t.Helper()
	const warmUp, measured = 500, 5000
	var times [2][]time.Duration
	for i := range warmUp + measured {
		for k, run := range []func() error{bare, querier} {
			begin := time.Now()
			if err := run(); err != nil {
				t.Fatal(err)
			}
			if i >= warmUp {
				times[k] = append(times[k], time.Since(begin))
			}
		}
	}
	median := func(k int) time.Duration {
		slices.Sort(times[k])
		return times[k][measured/2]
	}
	bareMedian, ownMedian := median(0), median(1)
	t.Logf("medians of %d: bare client %v, querier %v: %v more", measured, bareMedian, ownMedian, ownMedian-bareMedian)
	if ownMedian-bareMedian > maxOverhead {
		t.Errorf("the querier adds %v, more than %v", ownMedian-bareMedian, maxOverhead)
	}
}
