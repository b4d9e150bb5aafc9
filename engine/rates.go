package engine

import (
	"time"

	"github.com/tsmark/tsmark/result"
)

// A load's rate is recorded more often at first, so that short ones have a
// curve too: every ratesFirst-th part of the period, though not more often than
// ratesFinest. Whenever there are ratesMost points, two become one and the
// steps twice as long, up to the period.
const (
	ratesFirst  = 64
	ratesMost   = 128
	ratesFinest = 10 * time.Millisecond
)

// recordRates appends a point a period, or more where the load is short, until
// the returned function is called, which adds the last one. Period 0: that one
// alone.
func (l *loader) recordRates(period time.Duration) (stop func()) {
	if period <= 0 {
		return func() { l.recordRate() }
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		step := min(period, max(period/ratesFirst, ratesFinest))
		ticker := time.NewTicker(step)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				l.recordRate()
				if len(l.out.Rates) == ratesMost && step < period {
					l.out.Rates = halved(l.out.Rates)
					step = min(2*step, period)
					ticker.Reset(step)
				}
			case <-end:
				l.recordRate()
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

// recordRate appends what was accepted since the last point.
func (l *loader) recordRate() {
	rows := l.rows.Load()
	l.out.Rates = append(l.out.Rates, result.RatePoint{At: time.Since(l.start).Seconds(), Rows: rows - l.rated})
	l.rated = rows
}

// halved makes one point of two, in place.
func halved(points []result.RatePoint) []result.RatePoint {
	for i := range len(points) / 2 {
		a, b := points[2*i], points[2*i+1]
		points[i] = result.RatePoint{At: b.At, Rows: a.Rows + b.Rows}
	}
	if len(points)%2 == 1 {
		points[len(points)/2] = points[len(points)-1]
	}
	return points[:(len(points)+1)/2]
}
