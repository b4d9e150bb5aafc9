package compare

import (
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
)

// Metric names a figure, as conditions do.
type Metric string

// The metrics of a query type's service time, of all types together, of a load,
// and of a mixed phase.
const (
	Median  Metric = "median"
	Mean    Metric = "mean"
	P90     Metric = "p90"
	P95     Metric = "p95"
	P99     Metric = "p99"
	P999    Metric = "p99.9"
	Max     Metric = "max"
	GeoMean Metric = "geomean" // geometric mean over the query types of their medians
	Load    Metric = "load"    // rows a second until all had settled
	Acked   Metric = "acked"   // rows a second until the last one was acknowledged
	Sent    Metric = "sent"    // rows a second until the last one was handed over
	Disk    Metric = "disk"    // bytes after settling

	MixedMedian Metric = "mixed-median" // of a type's times while rows were written: see result.MixedType.Time
	MixedP99    Metric = "mixed-p99"
	MixedLoad   Metric = "mixed-load" // rows a second meanwhile, until the last one was acknowledged or else handed over

	EventMedian Metric = "event-median" // of queries' response times during an event of a life
	EventTook   Metric = "event-took"   // time that an event of a life took

	CrashLosses   Metric = "crash-losses"   // share of crashes that lost acknowledged rows
	CrashAnswers  Metric = "crash-answers"  // time from a restart after a crash until the target answered
	CrashComplete Metric = "crash-complete" // and until it had every acknowledged row

	// Step is the metric of conditions over many runs: see package trend. No comparison has it.
	Step Metric = "step"
)

// Metrics lists all metrics.
func Metrics() []Metric {
	return append(slices.Clone(ofQueries()), GeoMean, Load, Acked, Sent, Disk, MixedMedian, MixedP99, MixedLoad, EventMedian, EventTook, CrashLosses, CrashAnswers, CrashComplete)
}

func ofQueries() []Metric { return []Metric{Median, Mean, P90, P95, P99, P999, Max} }

// compute computes a metric of service times; less than 0: at least so much.
func (m Metric) compute(times []float64) float64 {
	switch m {
	case Median:
		return stats.Median(times)
	case Mean:
		return stats.Mean(times)
	}
	return stats.Quantile(times, m.quantile())
}

// isMixed reports whether the metric is of mixed phases, or of lives.
func (m Metric) isMixed() bool {
	return m == MixedMedian || m == MixedP99 || m == MixedLoad || m.isOfEvents()
}

// isOfEvents reports whether the metric is of events of a life.
func (m Metric) isOfEvents() bool { return m == EventMedian || m == EventTook }

// isOfCrashes reports whether the metric is of crashes.
func (m Metric) isOfCrashes() bool {
	return m == CrashLosses || m == CrashAnswers || m == CrashComplete
}

// quantile returns the quantile that a number of queries must be able to resolve for the
// metric (see measure.Holds); 0: any number will do.
func (m Metric) quantile() float64 {
	switch m {
	case P90:
		return 0.9
	case P95:
		return 0.95
	case P99, MixedP99:
		return 0.99
	case P999:
		return 0.999
	case Max:
		return 1
	}
	return 0
}

// The subjects of figures that are not a query type's.
const (
	AllTypes    = "all types"
	LoadSubject = "load"
)

// Unit of a figure.
type Unit string

// The units.
const (
	Seconds       Unit = "s"
	RowsPerSecond Unit = "rows/s"
	Bytes         Unit = "bytes"
	Share         Unit = "share" // from 0 to 1
)

// unit returns the unit of the metric's figures.
func (m Metric) unit() Unit {
	switch m {
	case Load, Acked, Sent, MixedLoad:
		return RowsPerSecond
	case Disk:
		return Bytes
	case CrashLosses:
		return Share
	}
	return Seconds
}

// factors returns the units of limits, by name.
func (u Unit) factors() map[string]float64 {
	switch u {
	case RowsPerSecond:
		return map[string]float64{"": 1, "rows/s": 1, "/s": 1, "k": 1e3, "k/s": 1e3, "M": 1e6, "M/s": 1e6}
	case Bytes:
		return map[string]float64{"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
	case Share:
		return map[string]float64{"": 1}
	}
	return map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1}
}

// example returns an example of a limit.
func (u Unit) example() string {
	switch u {
	case RowsPerSecond:
		return "100000rows/s"
	case Bytes:
		return "2GiB"
	case Share:
		return "0.1"
	}
	return "50ms"
}

// text formats a figure in the unit that suits its size, with the given function for its digits.
func (u Unit) text(figure float64, digits func(float64) string) string {
	switch {
	case u == RowsPerSecond:
		return digits(figure) + "rows/s"
	case u == Share:
		return digits(figure)
	case u == Bytes && figure >= 1e6:
		return digits(figure/1e6) + "MB"
	case u == Bytes:
		return digits(figure) + "B"
	case figure >= 1:
		return digits(figure) + "s"
	case figure >= 1e-3:
		return digits(figure*1e3) + "ms"
	case figure >= 1e-6:
		return digits(figure*1e6) + "us"
	}
	return digits(figure*1e9) + "ns"
}

// Direction says which figures are better.
type Direction string

// The directions.
const (
	Lower  Direction = "lower"
	Higher Direction = "higher"
)

// Method is the source of variation that an interval and a p-value cover.
type Method string

// The methods.
const (
	AcrossRepeats Method = "across repeats"    // including differences between repeats
	WithinRepeat  Method = "within one repeat" // only differences between queries
)

// Verdict is a comparison in words.
type Verdict string

// The verdicts.
const (
	Faster       Verdict = "faster" // B is
	Slower       Verdict = "slower"
	Smaller      Verdict = "smaller"
	Larger       Verdict = "larger"
	Fewer        Verdict = "fewer" // crashes of B lost rows
	More         Verdict = "more"
	NoDifference Verdict = "no difference shown" // which does not prove their equality
	NoVerdict    Verdict = "no verdict"          // see Figure.Why
	NotCompared  Verdict = "not compared"        // a side has no figure: see Figure.Why
)
