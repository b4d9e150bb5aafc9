package tsbs

import "math"

// walk is the random walk of a host's value from epoch to epoch: its steps are normally distributed
// with the mean and standard deviation, within bounds. TSBS calls these WD, CWD (clamped) and MWD
// (monotonic, |step| is added).
type walk struct {
	mean, deviation float64
	low, high       float64
	rising          bool
}

// drift returns an unbounded walk (TSBS's WD).
func drift(mean float64) walk {
	return walk{mean: mean, deviation: 1, low: math.Inf(-1), high: math.Inf(1)}
}

// boundedWalk returns a walk from 0 to high (CWD).
func boundedWalk(mean, high float64) walk { return walk{mean: mean, deviation: 1, high: high} }

// counter returns a walk that only rises (MWD).
func counter(mean float64) walk {
	w := drift(mean)
	w.rising = true
	return w
}

// repeat returns n equal walks.
func repeat(n int, w walk) []walk {
	walks := make([]walk, n)
	for i := range walks {
		walks[i] = w
	}
	return walks
}

// step moves each state by its walk, one draw each.
func (r *random) step(states []float64, walks []walk) {
	strips := &r.ziggurat.strips
	states = states[:len(walks)]
	for i := range walks {
		if r.next == lagLong {
			r.refill()
		}
		// normal, written out for the draws that need no second look.
		j := normalBits(r.block[r.next])
		r.next++
		strip := &strips[j&stripMask]
		x := float64(j) * strip.width
		if magnitude(j) >= strip.inside {
			var ok bool
			if x, ok = r.edge(j); !ok {
				x = r.normal()
			}
		}
		w := &walks[i]
		x = x*w.deviation + w.mean
		if w.rising {
			x = math.Abs(x)
		}
		states[i] = clamp(states[i]+x, w.low, w.high)
	}
}
