package tally

import "time"

// The rate of a load, and the times of queries beside it, are kept more often at first, so that short ones have a
// curve too: every 64th part of the period, though not more often than finest. Whenever
// there are as many points as most, two become one and the steps twice as long, up
// to the period.
const (
	halvings    = 6
	finest      = 10 * time.Millisecond
	most        = 128
	mostPeriods = 1 << 20 // of still longer loads the last point has the rest
)

// rates is the progress in each step since the begin.
type rates struct {
	period, step time.Duration // period 0: one step has all
	origin       time.Duration
	begun        bool
	steps        []progress
}

// progress is the rows that were accepted in a step, or the queries that ended in it and their times together.
type progress struct {
	count int64
	took  time.Duration
}

func (p *progress) add(o progress) { p.count, p.took = p.count+o.count, p.took+o.took }

func (r *rates) begin(at time.Duration) {
	if r.begun {
		return
	}
	r.origin, r.begun, r.step = at, true, r.period
	for n := 0; n < halvings && r.step%2 == 0 && r.step/2 >= finest; n++ { // points are halves exactly
		r.step /= 2
	}
}

// add adds the progress at some time.
func (r *rates) add(at time.Duration, p progress) {
	place := 0
	if r.period > 0 {
		since := max(at-r.origin, 0)
		for since/r.step >= most && r.step < r.period {
			r.coarsen()
		}
		place = int(min(since/r.step, mostPeriods-1))
	}
	r.extend(place + 1)
	r.steps[place].add(p)
}

// extend makes at least n steps.
func (r *rates) extend(n int) {
	if missing := n - len(r.steps); missing > 0 {
		r.steps = append(r.steps, make([]progress, missing)...)
	}
}

// coarsen makes one point of two.
func (r *rates) coarsen() {
	r.step *= 2
	for i := range r.steps {
		if p := r.steps[i]; i > 0 {
			r.steps[i] = progress{}
			r.steps[i/2].add(p)
		}
	}
	r.steps = r.steps[:(len(r.steps)+1)/2]
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
	r.extend(len(o.steps))
	for i, p := range o.steps {
		r.steps[i].add(p)
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
	for i, p := range t.rates.steps {
		at := t.Span.Last - t.Span.First
		if i < len(t.rates.steps)-1 {
			at = time.Duration(i+1)*t.rates.step + t.rates.origin - t.Span.First
		}
		points = append(points, Rate{at, p.count})
	}
	return points
}

// Mean is the queries that ended up to some time, since the one before, and the mean of their times.
type Mean struct {
	At    time.Duration // since the phase began
	Count int64
	Mean  time.Duration // response time if the queries had a schedule
}

// Course returns how the times of the queries of a mixed phase went, at the steps of Rates. Steps in which no query
// ended are omitted.
func (t *Tally) Course() []Mean {
	var points []Mean
	for i, p := range t.rates.steps {
		if p.count == 0 {
			continue
		}
		at := t.Span.Last
		if i < len(t.rates.steps)-1 {
			at = time.Duration(i+1) * t.rates.step
		}
		points = append(points, Mean{at, p.count, p.took / time.Duration(p.count)})
	}
	return points
}
