package runner

import "time"

// paces is how long the cells of a run took that have ended, by what was done on
// which target: all repeats are one.
type paces map[cell]cellTime

type cellTime struct {
	took  time.Duration
	cells int
}

// add notes how long a cell took.
func (p paces) add(c cell, took time.Duration) {
	c.repeat = 0
	p[c] = cellTime{p[c].took + took, p[c].cells + 1}
}

// of is about how long a cell takes: as those of its kind did, of its target, or
// else of all; 0: there were none.
func (p paces) of(c cell) time.Duration {
	c.repeat = 0
	of, ok := p[c]
	if !ok {
		for other, t := range p {
			if other.kind == c.kind {
				of = cellTime{of.took + t.took, of.cells + t.cells}
			}
		}
	}
	return of.took / time.Duration(max(of.cells, 1))
}

// overall says how far the run is when the first of these cells begins, after so
// many others.
func (x *execution) overall(cells []cell, finished int) Overall {
	o := Overall{Step: finished + 1, Steps: finished + 1, Expected: x.expected(cells[0])}
	for _, c := range cells[1:] {
		if c.kind != comparing && x.leftOut(c) { // answers to be compared are still to be taken
			continue
		}
		took := x.expected(c)
		o.Steps, o.Rest, o.More = o.Steps+1, o.Rest+took, o.More || took == 0
	}
	return o
}

// expected is about how long a cell takes; 0: nobody knows. Of the kinds that have
// not had their turn, queries are known by their time box, and comparing is
// mostly a pass over the dataset, as before, for all targets together.
func (x *execution) expected(c cell) time.Duration {
	took := x.paces.of(c)
	switch {
	case took > 0:
		return took
	case c.kind == querying:
		return time.Duration(len(x.subject.queries)) * x.plan.experiment.TimeBoxOfRepeat()
	case c.kind == comparing:
		return x.subject.passed / time.Duration(len(x.plan.targets))
	}
	return 0
}
