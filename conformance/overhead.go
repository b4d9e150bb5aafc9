package conformance

import (
	"slices"
	"testing"
	"time"
)

// maxOverhead is the maximum overhead of a querier over a bare client, at the
// 5th percentile, which other load on the machine hardly affects.
const maxOverhead = 15 * time.Microsecond

// Overhead fails the test if a querier takes longer to query a stub that
// answers at once than a bare client of the same protocol. The two
// alternate, so that other load on the machine affects both. It logs the 5th percentiles.
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
	fast := func(k int) time.Duration {
		slices.Sort(times[k])
		return times[k][measured/20]
	}
	bareTime, ownTime := fast(0), fast(1)
	t.Logf("5th percentiles of %d: bare client %v, querier %v: %v more", measured, bareTime, ownTime, ownTime-bareTime)
	if ownTime-bareTime > maxOverhead {
		t.Errorf("the querier adds %v, more than %v", ownTime-bareTime, maxOverhead)
	}
}
