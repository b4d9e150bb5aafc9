// Package pace says when the operations of an open loop are due, and holds
// them back until then. In an open loop arrivals come at a rate of their own,
// as those of many independent users do, however slow the answers are.
package pace

import (
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// Schedule defines when arrivals are due. Parse reads the result of String.
type Schedule interface {
	// Arrivals returns the intended starts in order, relative to the beginning of the schedule, to
	// the nanosecond. They never decrease, may be equal, and are the same in every call. They end
	// with the schedule, or with the longest time.Duration. Advancing to the next arrival allocates
	// nothing.
	Arrivals() iter.Seq[time.Duration]
	String() string
}

// In schedules with a defined rate at each time, arrival n (from 0) is due when the integral of the
// rate exceeds n. The first one is therefore due as soon as the rate is above 0, and the remainder
// of a step carries over to the next one.

// Constant is a steady number of arrivals a second, 0 or more, without an end.
// The zero value has no arrivals.
type Constant float64

// Arrivals implements Schedule.
func (c Constant) Arrivals() iter.Seq[time.Duration] {
	return arrivals(segment{float64(c), float64(c), math.Inf(1)})
}

func (c Constant) String() string { return rateText(float64(c)) }

// Ramp goes evenly from one number of arrivals a second to another, both 0 or
// more, and ends. The zero value has no arrivals.
type Ramp struct {
	From, To float64
	Over     time.Duration // 0 or more
}

// Arrivals implements Schedule.
func (r Ramp) Arrivals() iter.Seq[time.Duration] {
	return arrivals(segment{r.From, r.To, r.Over.Seconds()})
}

func (r Ramp) String() string {
	return rampPrefix + numberText(r.From) + ".." + rateText(r.To) + ":" + r.Over.String()
}

// Steps are steady rates one after the other. They end with the last one. The
// zero value has no arrivals.
type Steps []Step

// Step is a rate that is held for a while.
type Step struct {
	Rate float64       // arrivals a second, 0 or more; 0: a pause
	For  time.Duration // 0 or more
}

// Arrivals implements Schedule.
func (s Steps) Arrivals() iter.Seq[time.Duration] {
	segments := make([]segment, len(s))
	for i, step := range s {
		segments[i] = segment{step.Rate, step.Rate, step.For.Seconds()}
	}
	return arrivals(segments...)
}

func (s Steps) String() string {
	texts := make([]string, len(s))
	for i, step := range s {
		texts[i] = rateText(step.Rate) + ":" + step.For.String()
	}
	return stepsPrefix + strings.Join(texts, ",")
}

// Poisson is a Poisson process: arrivals that know nothing of each other, with
// exponentially distributed times between them. Equal seeds give equal
// arrivals. It has no end; the zero value has no arrivals.
type Poisson struct {
	Rate float64 // arrivals a second in the mean, 0 or more
	Seed uint64
}

// Arrivals implements Schedule.
func (p Poisson) Arrivals() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		if p.Rate <= 0 {
			return
		}
		random := rand.New(rand.NewPCG(p.Seed, 0))
		seconds := 0.0
		for {
			seconds += random.ExpFloat64() / p.Rate
			if due, ok := duration(seconds); !ok || !yield(due) {
				return
			}
		}
	}
}

func (p Poisson) String() string { return poissonText(p) }

// segment is a rate that changes evenly.
type segment struct {
	from, to float64 // arrivals a second
	seconds  float64
}

// count returns how many arrivals fall into the segment: the integral of its
// rate, which need not be a whole number.
func (s segment) count() float64 {
	if s.from <= 0 && s.to <= 0 || s.seconds <= 0 {
		return 0
	}
	n := (s.from + s.to) / 2 * s.seconds
	// 1.1/s for 110s is 121 arrivals; their product in floating point is above
	// 121, which would be one more.
	if whole := math.Round(n); math.Abs(n-whole) < 1e-9*n {
		return whole
	}
	return n
}

// timeOf returns the seconds after which the integral of the rate is n, which is
// below count. It is the root of from·t + slope·t²/2 = n, in the form in which
// nothing cancels.
func (s segment) timeOf(n float64) float64 {
	if n == 0 {
		return 0
	}
	slope := (s.to - s.from) / s.seconds
	return 2 * n / (s.from + math.Sqrt(max(s.from*s.from+2*slope*n, 0)))
}

// arrivals returns the arrivals of consecutive segments.
func arrivals(segments ...segment) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		var n, before, begin float64 // the next arrival; arrivals and seconds before the segment
		var last time.Duration
		for _, s := range segments {
			count := s.count()
			for ; n < before+count; n++ {
				due, ok := duration(begin + s.timeOf(n-before))
				last = max(last, due) // roots may fall by a rounding
				if !ok || !yield(last) {
					return
				}
			}
			before += count
			begin += s.seconds
		}
	}
}

// duration returns seconds as a Duration, if they fit into one.
func duration(seconds float64) (time.Duration, bool) {
	ns := math.Round(seconds * float64(time.Second))
	return time.Duration(ns), ns < math.MaxInt64
}
