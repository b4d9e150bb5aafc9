package runner

import (
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// jobKind is what is done on a target between opening and closing it.
type jobKind uint8

const (
	loading   jobKind = iota // load, settle, count
	checking                 // count where nothing was loaded; compare answers
	querying                 // measure queries
	comparing                // compare the answers that were taken meanwhile
)

// cell is a job on one target in one repeat, the smallest part of a run that
// is done anew when the run is resumed, but for query types, of which those
// finished stay.
type cell struct {
	kind   jobKind
	target int // index in the plan
	repeat int // from 1
}

// order returns the work of a plan, part by part: all loads, then the checks, then
// rounds of queries, then the comparison of the answers that were taken in these. Each
// turn opens the target again, so that all repeats begin alike.
//
// Loads and rounds of queries come in random order. Of all orders of a part's turns each
// is equally likely: that is what the Mann-Whitney test assumes, so that whatever befalls
// some turns on the machine shows a false difference no more often than the test's level
// says. A shuffle within each round is not enough. Simulated for six rounds, where every
// second turn is 30 % slower, a fixed order shows a false difference in 100 % of runs, a
// shuffle within rounds in 11 %, this one in 4 %. Pairs of mirrored rounds show none
// there, but one in 26 % of runs where two turns of four are slower. The price is power
// under a steady drift, which rounds cancel: at 10 % of drift and six rounds, a
// difference of 5 % is found in 57 % of runs rather than in 61 %.
func (p *Plan) order(seed string) []cell {
	random := rand.New(rand.NewPCG(xxhash.Sum64String(seed), xxhash.Sum64String("order of turns")))
	var cells []cell
	for _, part := range p.parts() {
		inTurn := func(j jobKind) {
			for _, i := range part {
				cells = append(cells, cell{j, i, 1})
			}
		}
		shuffled := func(j jobKind, first, last int) {
			var turns []int
			for range last - first + 1 {
				turns = append(turns, part...)
			}
			random.Shuffle(len(turns), func(a, b int) { turns[a], turns[b] = turns[b], turns[a] })
			taken := make(map[int]int) // turns by target
			for _, i := range turns {
				cells = append(cells, cell{j, i, first + taken[i]})
				taken[i]++
			}
		}
		if p.steps.Load {
			first, last := 1, p.loads()
			if _, ifShort := p.experiment.LoadRepeats(); ifShort { // see longLoads
				shuffled(loading, 1, 1)
				first = 2
			}
			shuffled(loading, first, last)
		}
		if p.steps.Verify {
			inTurn(checking)
		}
		if p.steps.Query {
			shuffled(querying, 1, p.experiment.QueryRepeats())
			inTurn(comparing)
		}
	}
	return cells
}

// KeepOrder has a run of the plan take the targets' turns in the order in which an
// earlier run of the same experiment took them.
func (p *Plan) KeepOrder(of *result.Run) { p.orderSeed = of.OrderSeed }

// KeepQueries has a run of the plan run the queries that an earlier run of the same
// experiment ran.
func (p *Plan) KeepQueries(of *result.Run) { p.querySeed = of.QuerySeed }

// loads is how often each target is loaded, if not cut short: see
// execution.longLoads. The command that only loads does so once, where nobody
// said otherwise.
func (p *Plan) loads() int {
	repeats, ifShort := p.experiment.LoadRepeats()
	if ifShort && !p.compares {
		return 1
	}
	return repeats
}

// longLoads reports whether loads are not repeated, though several targets are
// compared: nobody said how often, and all would take too long by their first
// ones. A run that is resumed decides as before, since those are recorded.
func (x *execution) longLoads() bool {
	repeats, ifShort := x.plan.experiment.LoadRepeats()
	if !ifShort {
		return false
	}
	seconds := 0.0
	for i := range x.record.doc.Targets {
		for _, r := range x.record.doc.Targets[i].Repeats {
			if l := r.Load; r.Number == 1 && l != nil {
				seconds += l.Prepare + l.Settled
				if l.Mixed != nil {
					seconds += l.Mixed.Wall + l.Mixed.Writes.Settled
				}
			}
		}
	}
	return seconds*float64(repeats) > experiment.LongestLoads.Seconds()
}

// done reports whether the run has a cell's results already, as one that is
// resumed does.
func (x *execution) done(c cell) bool {
	t := &x.record.doc.Targets[c.target]
	switch c.kind {
	case loading:
		l := t.RepeatOf(c.repeat).Load
		return l != nil && (l.Settled > 0 || l.UnsupportedReason() != "")
	case checking:
		for _, q := range x.subject.queries {
			if t.RepeatOf(1).Type(q.queryType.Name) == nil {
				return false
			}
		}
		return len(x.subject.queries) > 0
	case comparing:
		return len(undecided(t)) == 0
	}
	for _, q := range x.subject.queries {
		if !finished(t, c.repeat, q.queryType.Name) {
			return false
		}
	}
	return len(x.subject.queries) > 0
}

// finished reports whether a type needs nothing more in a repeat: it was run, or
// has no figure.
func finished(t *result.Target, repeat int, queryType string) bool {
	if first := t.RepeatOf(1).Type(queryType); first != nil && first.WithoutFigure() {
		return true
	}
	q := t.RepeatOf(repeat).Type(queryType)
	return q != nil && (q.Executed > 0 || q.WithoutFigure())
}
