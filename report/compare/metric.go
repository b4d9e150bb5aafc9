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

	MixedMedian Metric = "mixed-median" // of a type's service time while rows were written
	MixedP99    Metric = "mixed-p99"
	MixedLoad   Metric = "mixed-load" // rows a second meanwhile, until the last one was acknowledged or else handed over
)

// Metrics lists all metrics.
func Metrics() []Metric {
	return append(slices.Clone(ofQueries()), GeoMean, Load, Acked, Sent, Disk, MixedMedian, MixedP99, MixedLoad)
}

func ofQueries() []Metric { return []Metric{Median, Mean, P90, P95, P99, P999, Max} }

// of computes a metric of service times; less than 0: at least so much.
func (m Metric) of(times []float64) float64 {
	switch m {
	case Median:
		return stats.Median(times)
	case Mean:
		return stats.Mean(times)
	}
	return stats.Quantile(times, m.quantile())
}

// quantile is what so many queries must tell for the metric (see
// measure.Holds); 0: any number does.
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
)

// Direction says which figures are better.
type Direction string

// The directions.
const (
	Lower  Direction = "lower"
	Higher Direction = "higher"
)

// Method says what an interval and a p-value know about.
type Method string

// The methods.
const (
	AcrossRepeats Method = "across repeats"    // what differs from repeat to repeat included
	WithinRepeat  Method = "within one repeat" // only what differs from query to query
)

// Verdict is a comparison in words.
type Verdict string

// The verdicts.
const (
	Faster       Verdict = "faster" // B is
	Slower       Verdict = "slower"
	Smaller      Verdict = "smaller"
	Larger       Verdict = "larger"
	NoDifference Verdict = "no difference shown" // which is no proof that there is none
	CannotTell   Verdict = "no verdict"          // see Figure.Why
	NotCompared  Verdict = "not compared"        // a side has no figure: see Figure.Why
)
