package plan

import (
	"math"
	"time"

	"github.com/tsmark/tsmark/workload"
)

// crashBatches is the number of batches of each writer in a round that ends in a crash.
const crashBatches = 10

// CrashRows returns the number of rows that the writers of a target write in a round, at most.
func (p *Plan) CrashRows(t *Target) int64 {
	return crashBatches * int64(t.Workers) * int64(t.BatchSize)
}

// longestSpan is the maximum time that a dataset gets for crashes.
const longestSpan = 50 * 365 * 24 * time.Hour

// ExtendForCrashes returns the specification of a longer dataset, limited to the rows of the given one, or
// to its limit. Behind these it has the rows for all crashes of a target.
func (p *Plan) ExtendForCrashes(w workload.Workload, s workload.Spec) (workload.Spec, error) {
	e := p.Experiment
	if _, ok := w.(workload.Surveyed); ok {
		return s, e.Problem("crash.count", "is for rows that are generated, not for rows of your own; leave it out")
	}
	rows := w.Describe(s).RowsAtMost
	longer := s
	if longer.Limit == 0 || longer.Limit > rows {
		longer.Limit = rows
	}
	needed := int64(0)
	for i := range p.Targets {
		needed = max(needed, int64(e.Crash.Count)*p.CrashRows(&p.Targets[i]))
	}
	// Twice as many, because some datasets have fewer rows than they may have.
	epochs := math.Ceil(float64(s.End.Sub(s.Start)) / float64(s.Interval) * 2 * float64(needed) / float64(max(rows, 1)))
	if epochs*float64(s.Interval) < float64(longestSpan) {
		longer.End = s.End.Add(time.Duration(epochs) * s.Interval)
	}
	if err := w.Check(longer); err != nil || w.Describe(longer).RowsAtMost < longer.Limit+needed {
		return s, e.Problem("crash.count", "%d crashes need %d rows behind the %d loaded ones, which a longer time does not give the dataset: raise workload.scale, leave out limits of its rows, or choose fewer crashes or smaller batches", e.Crash.Count, needed, longer.Limit)
	}
	return longer, nil
}
