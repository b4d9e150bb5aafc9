// Package measure records how long operations take.
package measure

import (
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Longest is the longest duration that a Latency distinguishes from longer ones.
const Longest = time.Hour

// precision is the number of significant digits of a Latency.
const precision = 3

// Latency is a histogram of durations from 1 ns to Longest, kept to three
// significant digits (HdrHistogram). Minimum, maximum, mean and standard
// deviation are exact. It is used by one goroutine; Merge brings several
// together.
type Latency struct {
	hist     *hdrhistogram.Histogram // nanoseconds
	min, max int64
	// The durations together, and their squares: in whole numbers, so that neither
	// order nor rounding makes a difference.
	total, squares sum
}

// NewLatency returns an empty histogram.
func NewLatency() *Latency {
	return &Latency{hist: hdrhistogram.New(1, int64(Longest), precision), min: math.MaxInt64}
}

// Record adds a duration. A duration outside the range counts as the nearest end of the range in
// the histogram, and unchanged in the exact figures; a negative one, possible only if a clock was
// set back, counts as 0. Record allocates nothing.
func (l *Latency) Record(d time.Duration) {
	ns := int64(max(d, 0))
	// The only error is a value out of range, which the clamp excludes.
	_ = l.hist.RecordValue(min(max(ns, 1), int64(Longest)))
	l.min, l.max = min(l.min, ns), max(l.max, ns)
	l.total.add(0, uint64(ns))
	l.squares.add(bits.Mul64(uint64(ns), uint64(ns)))
}

// Merge adds everything that other recorded.
func (l *Latency) Merge(other *Latency) {
	if other.Count() == 0 {
		return
	}
	l.total.add(other.total.high, other.total.low)
	l.squares.add(other.squares.high, other.squares.low)
	l.min, l.max = min(l.min, other.min), max(l.max, other.max)
	l.hist.Merge(other.hist)
}

// Count returns the number of durations recorded.
func (l *Latency) Count() int64 { return l.hist.TotalCount() }

// mean is that in nanoseconds; 0 where nothing was recorded.
func (l *Latency) mean() float64 { return l.total.float() / float64(max(l.Count(), 1)) }

// Trim returns l without the given numbers of shortest and longest durations; an empty Latency if
// none remain. If it removes any, exact figures become the histogram's, accurate to three
// significant digits, except at an end that is not trimmed.
func (l *Latency) Trim(shortest, longest int64) *Latency {
	if shortest <= 0 && longest <= 0 {
		return l
	}
	left := NewLatency()
	passed, end := int64(0), l.Count()-longest // durations of the bars before; first one left out at the end
	for _, bar := range l.hist.Distribution() {
		from, to := max(passed, shortest), min(passed+bar.Count, end)
		if passed += bar.Count; from < to {
			ns := l.clamp(bar.From + (bar.To-bar.From)/2)
			total, squares := sum{0, uint64(ns)}.times(uint64(to-from)), square(uint64(ns)).times(uint64(to-from))
			left.total.add(total.high, total.low)
			left.squares.add(squares.high, squares.low)
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
	return seconds(l.Trim(cut, cut).mean())
}

// Summary is the figures of a Latency, in seconds; all zero where nothing was
// recorded. A percentile that so few durations do not tell (see Holds) is 0, and
// absent in JSON.
type Summary struct {
	Count  int64   `json:"count"`          // number of durations
	Min    float64 `json:"min"`            // shortest
	Mean   float64 `json:"mean"`           // arithmetic mean
	Median float64 `json:"median"`         // of an even number the mean of the two in the middle
	P90    float64 `json:"p90,omitempty"`  // 90th percentile
	P95    float64 `json:"p95,omitempty"`  // 95th percentile
	P99    float64 `json:"p99,omitempty"`  // 99th percentile
	P999   float64 `json:"p999,omitempty"` // 99.9th percentile
	Max    float64 `json:"max"`            // longest
	StdDev float64 `json:"stddev"`         // of the population
}

// Percentile is a quantile that a Summary has.
type Percentile struct {
	Name     string // as conditions and objectives have it: p99, and p999 for 0.999
	Quantile float64
	Of       func(*Summary) float64 // seconds; nothing if there are too few durations
}

// Percentiles lists the percentiles of a Summary other than its median.
func Percentiles() []Percentile {
	return []Percentile{
		{"p90", 0.9, func(s *Summary) float64 { return s.P90 }},
		{"p95", 0.95, func(s *Summary) float64 { return s.P95 }},
		{"p99", 0.99, func(s *Summary) float64 { return s.P99 }},
		{"p999", 0.999, func(s *Summary) float64 { return s.P999 }},
	}
}

// Holds reports whether Count durations are enough to determine the quantile q.
func (s *Summary) Holds(q float64) bool { return Holds(s.Count, q) }

// Summary returns the figures of everything recorded so far.
func (l *Latency) Summary() Summary {
	n := l.Count()
	if n == 0 {
		return Summary{}
	}
	held := func(q float64) float64 {
		if !Holds(n, q) {
			return 0
		}
		return l.Quantile(q)
	}
	return Summary{
		Count:  n,
		Min:    seconds(float64(l.min)),
		Mean:   seconds(l.mean()),
		Median: l.Median(),
		P90:    held(0.9),
		P95:    held(0.95),
		P99:    held(0.99),
		P999:   held(0.999),
		Max:    seconds(float64(l.max)),
		StdDev: seconds(deviation(n, l.total, l.squares)),
	}
}

// Quantile returns a duration in seconds that at least the fraction q (0 to 1) of all durations
// does not exceed: the one of the nearest rank (see Rank), rounded up to three significant digits,
// but never beyond the maximum; 0 if nothing was recorded. Holds reports whether there are enough
// durations to determine it.
func (l *Latency) Quantile(q float64) float64 { return l.atRank(Rank(l.Count(), q)) }

// Median returns the median in seconds, of an even number of durations the mean
// of the two in the middle; 0 where nothing was recorded. Both are rounded up
// as Quantile's.
func (l *Latency) Median() float64 {
	n := l.Count()
	return l.atRank((n+1)/2)/2 + l.atRank(n/2+1)/2
}

// atRank returns the rank-th shortest duration, from 1, in seconds; 0 where
// nothing was recorded.
func (l *Latency) atRank(rank int64) float64 {
	if l.Count() == 0 {
		return 0
	}
	return seconds(float64(l.clamp(l.hist.ValueAtPercentile(l.percentile(rank)))))
}

// percentile is the percentage that the histogram, which rounds to the nearest
// whole rank, takes for this one.
func (l *Latency) percentile(rank int64) float64 { return 100 * float64(rank) / float64(l.Count()) }

// clamp removes the rounding of the histogram beyond the exact ends. Values longer than Longest are
// Longest in the histogram, which lies within the ends anyway.
func (l *Latency) clamp(ns int64) int64 { return min(max(ns, l.min), l.max) }

// Point is one point of a percentile curve.
type Point struct {
	Quantile float64 // 0 to below 1
	Seconds  float64
}

// Curve returns n points (n ≥ 2) of the percentile curve, evenly spaced on the axis log(1/(1-q)),
// which gives each further nine of a percentile the same space. The values are those of Quantile.
// The curve begins at quantile 0 and ends with the maximum at 1-1/(2·Count). It is nil if nothing
// was recorded.
func (l *Latency) Curve(n int) []Point {
	if l.Count() == 0 {
		return nil
	}
	percentiles, points := make([]float64, n), make([]Point, n)
	end := math.Log(2 * float64(l.Count()))
	for i := range points {
		points[i].Quantile = -math.Expm1(-end * float64(i) / float64(n-1))
		percentiles[i] = l.percentile(Rank(l.Count(), points[i].Quantile))
	}
	for i, ns := range l.hist.ValueAtPercentilesSlice(percentiles) {
		points[i].Seconds = seconds(float64(l.clamp(ns)))
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

// Decode decodes the result of Encode. The exact figures are not part of it: those of the result
// are the histogram's, accurate to three significant digits.
func Decode(encoded string) (*Latency, error) {
	l, err := decode(encoded)
	if err == nil && l.Count() > 0 {
		l.min, l.max = l.hist.Min(), l.hist.Max()
		l.spread(l.hist.Mean(), l.hist.StdDev())
	}
	return l, err
}

// decode is Decode without minimum, maximum, mean and deviation, which take several passes over the histogram.
func decode(encoded string) (*Latency, error) {
	// The library allocates what the header requests, up to tens of megabytes.
	if err := checkRange(encoded); err != nil {
		return nil, fmt.Errorf("decoding a histogram: %w", err)
	}
	hist, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil {
		return nil, fmt.Errorf("decoding a histogram: %w", err)
	}
	return &Latency{hist: hist, min: math.MaxInt64}, nil
}

// checkRange returns an error unless the histogram has the range and the precision of
// NewLatency's.
func checkRange(encoded string) error {
	const outer, digits, lowest, highest, end = 8, 12, 16, 24, 32 // offsets in bytes
	text := base64.NewDecoder(base64.StdEncoding, strings.NewReader(encoded))
	if _, err := io.CopyN(io.Discard, text, outer); err != nil {
		return fmt.Errorf("reading its header: %w", err)
	}
	plain, err := zlib.NewReader(text)
	if err != nil {
		return fmt.Errorf("reading its header: %w", err)
	}
	var header [end]byte
	if _, err := io.ReadFull(plain, header[:]); err != nil {
		return fmt.Errorf("reading its header: %w", err)
	}
	number := func(at int) uint64 { return binary.BigEndian.Uint64(header[at:]) }
	if binary.BigEndian.Uint32(header[digits:]) != precision || number(lowest) > 1 || number(highest) != uint64(Longest) {
		return errors.New("its range or precision is not that of tsmark's histograms")
	}
	return nil
}

// Restore decodes the result of Encode, and takes the exact figures from the summary of the same
// Latency.
func Restore(encoded string, exact Summary) (*Latency, error) {
	l, err := decode(encoded)
	if err != nil || l.Count() == 0 {
		return l, err
	}
	for _, figure := range []float64{exact.Min, exact.Mean, exact.Max, exact.StdDev} {
		if !(figure >= 0 && figure < math.MaxInt64/1e9) {
			return nil, fmt.Errorf("the figures of a histogram have %g seconds, which no operation can take", figure)
		}
	}
	l.min, l.max = int64(math.Round(exact.Min*1e9)), int64(math.Round(exact.Max*1e9))
	l.spread(exact.Mean*1e9, exact.StdDev*1e9)
	return l, nil
}

// spread sets the figures of the durations that the histogram does not contain.
func (l *Latency) spread(mean, deviation float64) {
	n := l.Count()
	l.total = nearest(new(big.Float).Mul(big.NewFloat(mean), big.NewFloat(float64(n))))
	l.squares = squaresOf(n, l.total, deviation)
}

func seconds(ns float64) float64 { return ns / float64(time.Second) }
