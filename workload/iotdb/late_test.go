package iotdb

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tsmark/tsmark/workload"
)

// lateness is what arrived of one device: for each row, how many steps behind
// the newest one before it, 0 for those in time.
func lateness(t *testing.T, change func(*workload.Spec)) (behind []float64, rows []int64) {
	t.Helper()
	s := base()
	s.Scale, s.End, s.InARow = 1, s.Start.Add(40_000*s.Interval), 100
	s.Settings["iotdb.sensors"], s.Settings["iotdb.distribution"] = "1", "0:0:0:0:1"
	change(&s)
	newest := int64(-1)
	for _, r := range rowsOf(t, dataset(t, s).Open(), 5000) {
		k := (r.time - s.Start.UnixNano()) / int64(s.Interval)
		rows = append(rows, k)
		behind = append(behind, float64(max(newest-k, 0)))
		newest = max(newest, k)
	}
	return behind, rows
}

func late(behind []float64) []float64 {
	var late []float64
	for _, d := range behind {
		if d > 0 {
			late = append(late, d)
		}
	}
	return late
}

// Each row arrives once; rows are late with the configured probability, by one step plus a Poisson
// number of further steps.
func TestDelayed(t *testing.T) {
	const p, lambda = 0.2, 30
	behind, rows := lateness(t, func(s *workload.Spec) { s.Settings["iotdb.late"], s.Settings["iotdb.late-mean"] = "0.2", "30" })
	delays := late(behind)
	n := float64(len(behind))
	if share := float64(len(delays)) / n; math.Abs(share-p) > 4*math.Sqrt(p*(1-p)/n) {
		t.Errorf("a share of %g is late, want %g", share, p)
	}
	// The newest row is late itself in one of five cases: then those behind it
	// are a step less behind. So the mean is below 31 by a fifth and a little.
	if mean, variance := stat.MeanVariance(delays, nil); math.Abs(mean-(lambda+1-p/(1-p))) > 0.4 || math.Abs(variance/lambda-1) > 0.1 {
		t.Errorf("delays have mean %g and variance %g, want about %g and %d", mean, variance, lambda+1-p/(1-p), lambda)
	}
	slices.Sort(rows)
	for i, k := range rows {
		if int64(i) != k {
			t.Fatalf("row %d is missing or there twice", i)
		}
	}
}

// A cap holds.
func TestDelayedAtMost(t *testing.T) {
	behind, _ := lateness(t, func(s *workload.Spec) {
		s.Settings["iotdb.late"], s.Settings["iotdb.late-mean"], s.Settings["iotdb.late-most"] = "0.2", "30", "25"
	})
	if most := slices.Max(behind); most != 25 {
		t.Errorf("delays reach %g steps, want 25", most)
	}
}

// Within a batch the times of each hundred rows are those of their batch, in
// another order; globally they go anywhere behind.
func TestWithinBatchAndGlobal(t *testing.T) {
	behind, rows := lateness(t, func(s *workload.Spec) { s.Settings["iotdb.late"], s.Settings["iotdb.late-mode"] = "0.3", withinBatch })
	for i, k := range rows {
		if k/100 != int64(i)/100 {
			t.Fatalf("row %d arrives as number %d, in another batch", k, i)
		}
	}
	if share := float64(len(late(behind))) / float64(len(behind)); share < 0.25 || share > 0.3 {
		t.Errorf("a share of %g is late within batches, want a little less than 0.3", share)
	}
	behind, rows = lateness(t, func(s *workload.Spec) { s.Settings["iotdb.late"], s.Settings["iotdb.late-mode"] = "0.3", global })
	if share := float64(len(late(behind))) / float64(len(behind)); math.Abs(share-0.3) > 0.01 {
		t.Errorf("a share of %g is late globally, want 0.3", share)
	}
	if mean := stat.Mean(late(behind), nil); mean < 8_000 || mean > 12_000 {
		t.Errorf("delays of all rows have a mean of %g steps, want about a quarter of 40000", mean)
	}
	slices.Sort(rows)
	if n := int64(len(rows)); rows[n-1] != n-1 || len(slices.Compact(rows)) != int(n) {
		t.Error("not every row is there once")
	}
}

// The equations: a row in time is one step behind the newest, a late one X+1
// steps before it, X being Poisson.
func TestPaperPoisson(t *testing.T) {
	const p, lambda = 0.25, 12
	behind, rows := lateness(t, func(s *workload.Spec) {
		s.Settings["iotdb.late"], s.Settings["iotdb.late-mode"], s.Settings["iotdb.late-mean"] = "0.25", paperPoisson, "12"
	})
	newest := int64(-1)
	for i, k := range rows {
		if behind[i] == 0 && k != newest+1 {
			t.Fatalf("row %d has time %d, want one step after %d", i, k, newest)
		}
		newest = max(newest, k)
	}
	delays := late(behind)
	if share := float64(len(delays)) / float64(len(rows)); math.Abs(share-p) > 0.01 {
		t.Errorf("a share of %g is late, want %g", share, p)
	}
	known := distuv.Poisson{Lambda: lambda}
	var counts, expected [23]float64 // of X from 2 to 24
	for x := range counts {
		expected[x] = known.Prob(float64(x+2)) * float64(len(delays))
	}
	for _, d := range delays {
		if x := int(d) - 1 - 2; x >= 0 && x < len(counts) {
			counts[x]++
		}
	}
	if x, limit := stat.ChiSquare(counts[:], expected[:]), (distuv.ChiSquared{K: 23}).Quantile(0.9999); x > limit {
		t.Errorf("delays are not Poisson: chi square %g is beyond %g", x, limit)
	}
}

// The share of duplicate rows is the configured one, and each duplicate comes after its original.
func TestDuplicates(t *testing.T) {
	_, rows := lateness(t, func(s *workload.Spec) { s.Settings["iotdb.duplicates"] = "0.1" })
	seen := map[int64]int{}
	for _, k := range rows {
		seen[k]++
	}
	twice := 0
	for _, n := range seen {
		if n > 2 {
			t.Fatalf("a row is there %d times", n)
		}
		twice += n - 1
	}
	if share := float64(twice) / 40_000; len(seen) != 40_000 || math.Abs(share-0.1) > 0.006 {
		t.Errorf("%d rows, a share of %g of them twice, want 40000 and 0.1", len(seen), share)
	}
}
