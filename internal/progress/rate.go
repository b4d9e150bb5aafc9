package progress

import (
	"math"
	"time"
)

// memory is the time after which a change counts for a third of its weight.
const memory = 3 * time.Second

// rate estimates how fast a count grows, with more weight on recent samples.
type rate struct {
	at    time.Time
	count int64
	// Weighted sums of growth and of time. Their quotient needs no correction
	// for the beginning, when there is little to look back on.
	grown, seconds float64
}

// start begins at the time with a count of 0.
func (r *rate) start(at time.Time) { *r = rate{at: at} }

// add notes the count at a time.
func (r *rate) add(at time.Time, count int64) {
	dt := at.Sub(r.at).Seconds()
	if dt <= 0 {
		return
	}
	fade := math.Exp(-dt / memory.Seconds())
	r.grown = r.grown*fade + float64(count-r.count)
	r.seconds = r.seconds*fade + dt
	r.at, r.count = at, count
}

// perSecond returns the rate; 0 where nothing grew.
func (r *rate) perSecond() float64 {
	if r.seconds == 0 {
		return 0
	}
	return max(0, r.grown/r.seconds)
}
