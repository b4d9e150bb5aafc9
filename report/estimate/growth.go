package estimate

import "github.com/tsmark/tsmark/result"

// Growth returns a figure of a step, from 0, of each load in steps of a target. It is nil if
// one load is not valid or lacks the figure.
func Growth(t *result.Target, step int, of func(*result.GrowthStep) float64) []float64 {
	return Loads(t, func(l *result.Load) float64 {
		if l.Growth == nil || step >= len(l.Growth.Steps) {
			return 0
		}
		return of(&l.Growth.Steps[step])
	})
}

// StepAcked returns the rows a second of a step until the last one was acknowledged; 0: the
// protocol does not acknowledge.
func StepAcked(s *result.GrowthStep) float64 { return result.PerSecond(s.Rows, s.Acked) }

// StepSettled is the rows a second of a step until all had settled.
func StepSettled(s *result.GrowthStep) float64 { return result.PerSecond(s.Rows, s.Settled) }
