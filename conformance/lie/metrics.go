package lie

import (
	"slices"
	"time"

	"github.com/tsmark/tsmark/series"
)

// seriesOf identifies a series of a metric.
type seriesOf struct {
	table  string
	series uint32
}

// Metrics returns lies about rows that are samples of metrics. Answers of PromQL show them.
func Metrics() []Lie {
	return []Lie{dropsResets(), shiftsBuckets(), losesChurnedSeries(), ignoresMarkers()}
}

// eachSample calls the function with the rows of a metric that is not a native histogram.
func eachSample(run *series.Run, do func(of seriesOf, row int, null bool, value *float64)) {
	at := run.Table.FieldIndex(series.MetricValue)
	if run.Table.Metric == nil || at < 0 {
		return
	}
	c := &run.Columns[at]
	for row := range run.Times {
		do(seriesOf{run.Table.Name, run.Series[row]}, row, c.Nulls.Has(row), &c.Floats[row])
	}
}

// dropsResets stores no value of a counter that is below an earlier one.
func dropsResets() Lie {
	last := map[seriesOf]float64{}
	return Lie{Name: "drops-resets", Change: func(_ int64, run *series.Run) {
		if run.Table.Metric == nil || run.Table.Metric.Kind == series.Gauge {
			return
		}
		eachSample(run, func(of seriesOf, _ int, null bool, value *float64) {
			if !null {
				last[of] = max(last[of], *value)
				*value = last[of]
			}
		})
	}}
}

// shiftsBuckets stores the count of the next bucket in place of a histogram's own.
func shiftsBuckets() Lie {
	return Lie{Name: "shifts-buckets", Change: func(_ int64, run *series.Run) {
		if run.Table.Tag("le") == nil {
			return
		}
		var before *float64
		eachSample(run, func(_ seriesOf, row int, null bool, value *float64) {
			if before != nil && run.Times[row] == run.Times[row-1] {
				*before = *value
			}
			if before = value; null {
				before = nil
			}
		})
	}}
}

// losesChurnedSeries stores no series that begins a minute or more after the first one.
func losesChurnedSeries() Lie {
	first, known := int64(0), map[seriesOf]bool{}
	return Lie{Name: "loses-churned-series", Change: func(_ int64, run *series.Run) {
		var kept []uint32
		for row, t := range run.Times {
			if len(known) == 0 {
				first = t
			}
			of := seriesOf{run.Table.Name, run.Series[row]}
			if _, seen := known[of]; !seen {
				known[of] = t < first+int64(time.Minute)
			}
			if known[of] {
				kept = append(kept, uint32(row))
			}
		}
		if len(kept) < run.Rows() {
			run.Copy(0, run, kept)
			run.Grow(len(kept))
		}
	}}
}

// ignoresMarkers stores the last value again in place of a staleness marker, and so answers from series
// that have ended.
func ignoresMarkers() Lie {
	last := map[seriesOf]float64{}
	return Lie{Name: "ignores-markers", Change: func(_ int64, run *series.Run) {
		var nulls []int
		eachSample(run, func(of seriesOf, row int, null bool, value *float64) {
			if !null {
				last[of] = *value
			} else if v, known := last[of]; known {
				*value, nulls = v, append(nulls, row)
			}
		})
		if len(nulls) == 0 {
			return
		}
		c := &run.Columns[run.Table.FieldIndex(series.MetricValue)]
		c.Nulls = slices.Clone(c.Nulls)
		for _, row := range nulls {
			c.Nulls[row>>6] &^= 1 << (uint(row) & 63)
		}
	}}
}
