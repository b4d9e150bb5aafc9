package matrix

import (
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// Latency sums up the durations of successful operations. Quantiles and
// MiddleAverage come from a histogram with three significant digits; so do
// Average and Max if operations were cut off. A quantile with too few
// operations (see measure.Holds) is absent.
type Latency struct {
	Average       result.Value `json:"avg"`
	Min           result.Value `json:"min"`
	P10           result.Value `json:"p10"`
	P25           result.Value `json:"p25"`
	Median        result.Value `json:"median"`
	P75           result.Value `json:"p75"`
	P90           result.Value `json:"p90"`
	P95           result.Value `json:"p95"`
	P99           result.Value `json:"p99"`
	P999          result.Value `json:"p999"`
	Max           result.Value `json:"max"`
	SlowestThread result.Value `json:"slowest_thread"` // the largest sum of a client's latencies
	MiddleAverage result.Value `json:"mid_avg"`        // see measure.Latency.MiddleMean
	P1            result.Value `json:"p1"`
	P5            result.Value `json:"p5"`
}

// unknown returns latencies whose values are all unknown.
func unknown() Latency {
	none := result.Absent()
	return Latency{none, none, none, none, none, none, none, none, none, none, none, none, none, none, none}
}

// fill fills in all fields except SlowestThread, without the cutOff longest durations,
// which were cut off. Without a readable histogram it changes nothing.
func (l *Latency) fill(of *result.Latency, cutOff int64) {
	all, err := measure.Restore(of.Histogram, of.Summary)
	if err != nil {
		return
	}
	answered := all.Trim(0, cutOff)
	if answered.Count() == 0 {
		return
	}
	s := answered.Summary()
	q := func(quantile float64) result.Value {
		if !s.Holds(quantile) {
			return result.Absent()
		}
		return result.Value(answered.Quantile(quantile))
	}
	l.Average, l.Min, l.Median, l.Max = result.Value(s.Mean), result.Value(s.Min), result.Value(s.Median), result.Value(s.Max)
	l.P10, l.P25, l.P75, l.P90 = q(0.10), q(0.25), q(0.75), q(0.90)
	l.P95, l.P99, l.P999 = q(0.95), q(0.99), q(0.999)
	l.MiddleAverage = result.Value(answered.MiddleMean())
	if s.Holds(0.99) { // otherwise P1 is the minimum
		l.P1 = result.Value(answered.Quantile(0.01))
	}
	if s.Holds(0.95) {
		l.P5 = result.Value(answered.Quantile(0.05))
	}
}

// Metric is a column of the latency matrix.
type Metric struct {
	Name string // as the tool has it
	Help string
	Of   func(*Latency) result.Value
}

// Metrics lists the columns in the tool's order, followed by the paper's figures that the tool does not
// have: MID_AVG, its middle-average under the tool's former name, and the quantiles P1 and P5.
func Metrics() []Metric {
	return []Metric{
		{"AVG", "mean; exact", func(l *Latency) result.Value { return l.Average }},
		{"MIN", "shortest; exact", func(l *Latency) result.Value { return l.Min }},
		{"P10", "10 of 100 took no longer", func(l *Latency) result.Value { return l.P10 }},
		{"P25", "25 of 100 took no longer", func(l *Latency) result.Value { return l.P25 }},
		{"MEDIAN", "half took no longer", func(l *Latency) result.Value { return l.Median }},
		{"P75", "75 of 100 took no longer", func(l *Latency) result.Value { return l.P75 }},
		{"P90", "90 of 100 took no longer", func(l *Latency) result.Value { return l.P90 }},
		{"P95", "95 of 100 took no longer", func(l *Latency) result.Value { return l.P95 }},
		{"P99", "99 of 100 took no longer", func(l *Latency) result.Value { return l.P99 }},
		{"P999", "999 of 1,000 took no longer", func(l *Latency) result.Value { return l.P999 }},
		{"MAX", "longest; exact, so that no quantile exceeds it", func(l *Latency) result.Value { return l.Max }},
		{"SLOWEST_THREAD", "largest sum of the latencies of one client", func(l *Latency) result.Value { return l.SlowestThread }},
		{"MID_AVG", "the paper's middle-average: mean without the 5 % shortest and the 5 % longest", func(l *Latency) result.Value { return l.MiddleAverage }},
		{"P1", "1 of 100 took no longer", func(l *Latency) result.Value { return l.P1 }},
		{"P5", "5 of 100 took no longer", func(l *Latency) result.Value { return l.P5 }},
	}
}
