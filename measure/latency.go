// Package measure records how long operations take.
package measure

import (
	"fmt"
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
	// Mean and sum of squared distances from it, updated with each value
	// (Welford): plain sums of squares would cancel where latencies are long
	// and alike.
	mean, squares float64
}

// NewLatency returns an empty histogram.
func NewLatency() *Latency {
	return &Latency{hist: hdrhistogram.New(1, int64(Longest), 3), min: math.MaxInt64}
}

// Record adds a duration. One outside the range counts as the nearest end of
// it in the histogram, and as it is in the exact figures; a negative one, which
// only a clock set back can give, is 0. It allocates nothing.
func (l *Latency) Record(d time.Duration) {
	ns := int64(max(d, 0))
	// The only error is a value out of range, which the clamp excludes.
	_ = l.hist.RecordValue(min(max(ns, 1), int64(Longest)))
	l.min, l.max = min(l.min, ns), max(l.max, ns)
	distance := float64(ns) - l.mean
	l.mean += distance / float64(l.hist.TotalCount())
	l.squares += distance * (float64(ns) - l.mean)
}

// Merge adds everything that other recorded.
func (l *Latency) Merge(other *Latency) {
	if other.Count() == 0 {
		return
	}
	l.join(other.Count(), other.mean, other.squares)
	l.min, l.max = min(l.min, other.min), max(l.max, other.max)
	l.hist.Merge(other.hist)
}

// join takes so many further durations into the exact figures, ahead of their
// becoming part of the histogram.
func (l *Latency) join(count int64, mean, squares float64) {
	n, m := float64(l.Count()), float64(count)
	distance := mean - l.mean
	l.mean += distance * m / (n + m)
	l.squares += squares + distance*distance*n*m/(n+m)
}

// Count returns the number of durations recorded.
func (l *Latency) Count() int64 { return l.hist.TotalCount() }

// Sum returns all durations together, exact up to rounding.
func (l *Latency) Sum() time.Duration {
	return time.Duration(math.Round(l.mean * float64(l.Count())))
}

// Without returns what is left without so many of the shortest durations and
// so many of the longest; nothing where these are all. Where it leaves
// something out, figures that were exact are the histogram's, good to three
// significant digits, but for an end that stays.
func (l *Latency) Without(shortest, longest int64) *Latency {
	if shortest <= 0 && longest <= 0 {
		return l
	}
	left := NewLatency()
	passed, end := int64(0), l.Count()-longest // durations of the bars before; first one left out at the end
	for _, bar := range l.hist.Distribution() {
		from, to := max(passed, shortest), min(passed+bar.Count, end)
		if passed += bar.Count; from < to {
			ns := l.clamp(bar.From + (bar.To-bar.From)/2)
			left.join(to-from, float64(ns), 0)
			left.min, left.max = min(left.min, ns), max(left.max, ns)
			_ = left.hist.RecordValues(min(max(ns, 1), int64(Longest)), to-from) // in range
		}
	}
	if left.Count() == 0 {
		return left
	}
	if shortest <= 0 {
		left.min = l.min
	}
	if longest <= 0 {
		left.max = l.max
	}
	return left
}

// MiddleMean returns the mean in seconds without the twentieth of the shortest
// durations and the twentieth of the longest, both rounded down: the
// middle-average of IoTDB-Benchmark (Liu and Yuan, 2019: "the average cost-time
// that cuts off 5% head and tail"). It is good to three significant digits, and
// 0 where nothing was recorded.
func (l *Latency) MiddleMean() float64 {
	cut := l.Count() / 20
	return seconds(l.Without(cut, cut).mean)
}

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

// Summary returns the figures of everything recorded so far.
func (l *Latency) Summary() Summary {
	n := l.Count()
	if n == 0 {
		return Summary{}
	}
	return Summary{
		Count:  n,
		Min:    seconds(float64(l.min)),
		Mean:   seconds(l.mean),
		Median: l.Quantile(0.5),
		P90:    l.Quantile(0.9),
		P95:    l.Quantile(0.95),
		P99:    l.Quantile(0.99),
		P999:   l.Quantile(0.999),
		Max:    seconds(float64(l.max)),
		StdDev: seconds(math.Sqrt(l.squares / float64(n))),
	}
}

// Quantile returns the duration in seconds that the fraction q (0 to 1) of all
// durations does not exceed, to three significant digits and never outside
// minimum and maximum; 0 where nothing was recorded.
func (l *Latency) Quantile(q float64) float64 {
	if l.Count() == 0 {
		return 0
	}
	return seconds(float64(l.clamp(l.hist.ValueAtPercentile(q * 100))))
}

// clamp takes back what the histogram's rounding adds beyond the exact ends.
// Values longer than Longest stand in the histogram as Longest, which lies
// within the ends anyway.
func (l *Latency) clamp(ns int64) int64 { return min(max(ns, l.min), l.max) }

// Point is one point of a percentile curve.
type Point struct {
	Quantile float64 // 0 to below 1
	Seconds  float64
}

// Curve returns n points (n ≥ 2) of the percentile curve, evenly spaced on the
// axis log(1/(1-q)), which gives each further nine of a percentile the same
// room. The curve begins at quantile 0 and ends with the maximum, which stands
// at 1-1/(2·Count). It is nil where nothing was recorded.
func (l *Latency) Curve(n int) []Point {
	if l.Count() == 0 {
		return nil
	}
	percentiles := make([]float64, n)
	end := math.Log(2 * float64(l.Count()))
	for i := range percentiles {
		percentiles[i] = 100 * -math.Expm1(-end*float64(i)/float64(n-1))
	}
	points := make([]Point, n)
	for i, ns := range l.hist.ValueAtPercentilesSlice(percentiles) {
		points[i] = Point{percentiles[i] / 100, seconds(float64(l.clamp(ns)))}
	}
	points[n-1].Seconds = seconds(float64(l.max))
	return points
}

// Encode returns the histogram in HdrHistogram's V2 compressed encoding in
// base64, as other HdrHistogram tools read it; its unit is the nanosecond.
func (l *Latency) Encode() (string, error) {
	b, err := l.hist.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encoding a histogram: %w", err)
	}
	return string(b), nil
}

// Decode reads what Encode wrote. The exact figures are not part of it: those
// of the result are the histogram's, good to three significant digits.
func Decode(encoded string) (*Latency, error) {
	hist, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil {
		return nil, fmt.Errorf("decoding a histogram: %w", err)
	}
	l := &Latency{hist: hist, min: math.MaxInt64}
	if n := hist.TotalCount(); n > 0 {
		l.min, l.max = hist.Min(), hist.Max()
		l.mean = hist.Mean()
		l.squares = hist.StdDev() * hist.StdDev() * float64(n)
	}
	return l, nil
}

// Restore reads what Encode wrote, and takes the exact figures from the summary
// made of the same Latency.
func Restore(encoded string, exact Summary) (*Latency, error) {
	l, err := Decode(encoded)
	if err != nil || l.Count() == 0 {
		return l, err
	}
	l.min, l.max = int64(math.Round(exact.Min*1e9)), int64(math.Round(exact.Max*1e9))
	l.mean = exact.Mean * 1e9
	l.squares = exact.StdDev * exact.StdDev * 1e18 * float64(l.Count())
	return l, nil
}

func seconds(ns float64) float64 { return ns / float64(time.Second) }
