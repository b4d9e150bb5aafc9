package tally

import "time"

// The rate of a load is kept more often at first, so that short ones have a curve
// too: every 64th part of the period, though not more often than finest. Whenever
// there are as many points as most, two become one and the steps twice as long, up
// to the period.
const (
	halvings    = 6
	finest      = 10 * time.Millisecond
	most        = 128
	mostPeriods = 1 << 20 // of still longer loads the last point has the rest
)

// rates is the rows that were accepted in each step since the begin.
type rates struct {
	period, step time.Duration // period 0: one step has all
	origin       time.Duration
	begun        bool
	rows         []int64
}

func (r *rates) begin(at time.Duration) {
	if r.begun {
		return
	}
	r.origin, r.begun, r.step = at, true, r.period
	for n := 0; n < halvings && r.step%2 == 0 && r.step/2 >= finest; n++ { // points are halves exactly
		r.step /= 2
	}
}

// add adds rows that were accepted at some time.
func (r *rates) add(at time.Duration, rows int64) {
	place := 0
	if r.period > 0 {
		since := max(at-r.origin, 0)
		for since/r.step >= most && r.step < r.period {
			r.coarsen()
		}
		place = int(min(since/r.step, mostPeriods-1))
	}
	if missing := place + 1 - len(r.rows); missing > 0 {
		r.rows = append(r.rows, make([]int64, missing)...)
	}
	r.rows[place] += rows
}

// coarsen makes one point of two.
func (r *rates) coarsen() {
	r.step *= 2
	for i := range r.rows {
		if n := r.rows[i]; i > 0 {
			r.rows[i] = 0
			r.rows[i/2] += n
		}
	}
	r.rows = r.rows[:(len(r.rows)+1)/2]
}

func (r *rates) merge(o *rates) {
	if !o.begun {
		return
	}
	r.begin(o.origin)
	for r.step < o.step {
		r.coarsen()
	}
	for o.step < r.step {
		o.coarsen()
	}
	if missing := len(o.rows) - len(r.rows); missing > 0 {
		r.rows = append(r.rows, make([]int64, missing)...)
	}
	for i, n := range o.rows {
		r.rows[i] += n
	}
}

// Rate is the rows that were accepted up to some time, since the one before.
type Rate struct {
	At   time.Duration // since the load began
	Rows int64
}

// Rates returns the progress of a load: a point per period, or more if the load is short, and the
// last one at its end.
func (t *Tally) Rates() []Rate {
	var points []Rate
	for i, rows := range t.rates.rows {
		at := t.Span.Last - t.Span.First
		if i < len(t.rates.rows)-1 {
			at = time.Duration(i+1)*t.rates.step + t.rates.origin - t.Span.First
		}
		points = append(points, Rate{at, rows})
	}
	return points
}
