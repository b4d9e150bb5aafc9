// Package measure records how long operations take.
package measure

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Longest is the longest duration that a Latency tells apart from longer ones.
const Longest = time.Hour

// Latency is a histogram of durations from 1 ns to Longest, kept to three
// significant digits (HdrHistogram). Minimum, maximum, mean and standard
// deviation are exact. It is used by one goroutine; Merge brings several
// together.
type Latency struct {
	hist     *hdrhistogram.Histogram // nanoseconds
	min, max int64
	sum      float64
	squares  float64
}

// NewLatency returns an empty histogram.
func NewLatency() *Latency {
	return &Latency{hist: hdrhistogram.New(1, int64(Longest), 3), min: math.MaxInt64}
}

// Record adds a duration. One outside the range counts as the nearest end of
// it in the histogram, and as it is in the exact figures.
func (l *Latency) Record(d time.Duration) {
	ns := int64(max(d, 0))
	l.min, l.max = min(l.min, ns), max(l.max, ns)
	l.sum += float64(ns)
	l.squares += float64(ns) * float64(ns)
	// The only error is a value out of range, which the clamp excludes.
	_ = l.hist.RecordValue(min(max(ns, 1), int64(Longest)))
}

// Merge adds everything that other recorded.
func (l *Latency) Merge(other *Latency) {
	l.min, l.max = min(l.min, other.min), max(l.max, other.max)
	l.sum += other.sum
	l.squares += other.squares
	l.hist.Merge(other.hist)
}

// Count returns the number of durations recorded.
func (l *Latency) Count() int64 { return l.hist.TotalCount() }

// Summary is the figures of a Latency, in seconds; all zero where nothing was
// recorded.
type Summary struct {
	Count  int64   `json:"count"`
	Min    float64 `json:"min"`
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	P999   float64 `json:"p999"`
	Max    float64 `json:"max"`
	StdDev float64 `json:"stddev"` // of the population
}
