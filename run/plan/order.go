package plan

import (
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"

	"github.com/tsmark/tsmark/result"
)

// JobKind is what is done on a target between opening and closing it.
type JobKind uint8

const (
	Load    JobKind = iota // load, settle, count
	Check                  // count where nothing was loaded; compare answers
	Query                  // measure queries
	Compare                // compare the answers that were taken meanwhile
)

// Job is a job on one target in one repeat, the smallest part of a run that
// is done anew when the run is resumed, but for query types, of which those
// finished stay.
type Job struct {
	Kind   JobKind
	Target int // index in the plan
	Repeat int // from 1
}

// Order returns the work of a plan, part by part: all loads, then the checks, then
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
func (p *Plan) Order(seed string) []Job {
	random := rand.New(rand.NewPCG(xxhash.Sum64String(seed), xxhash.Sum64String("order of turns")))
	var cells []Job
	for _, part := range p.Groups() {
		inTurn := func(j JobKind) {
			for _, i := range part {
				cells = append(cells, Job{j, i, 1})
			}
		}
		shuffled := func(j JobKind, first, last int) {
			var turns []int
			for range last - first + 1 {
				turns = append(turns, part...)
			}
			random.Shuffle(len(turns), func(a, b int) { turns[a], turns[b] = turns[b], turns[a] })
			taken := make(map[int]int) // turns by target
			for _, i := range turns {
				cells = append(cells, Job{j, i, first + taken[i]})
				taken[i]++
			}
		}
		if p.Steps.Load {
			first, last := 1, p.LoadRepeats()
			if _, ifShort := p.Experiment.LoadRepeats(); ifShort { // see longLoads
				shuffled(Load, 1, 1)
				first = 2
			}
			shuffled(Load, first, last)
		}
		if p.Steps.Verify {
			inTurn(Check)
		}
		if p.Steps.Query {
			shuffled(Query, 1, p.Experiment.QueryRepeats())
			inTurn(Compare)
		}
	}
	return cells
}

// KeepOrder has a run of the plan take the targets' turns in the order in which an
// earlier run of the same experiment took them.
func (p *Plan) KeepOrder(of *result.Run) { p.OrderSeed = of.OrderSeed }

// KeepQueries has a run of the plan run the queries that an earlier run of the same
// experiment ran.
func (p *Plan) KeepQueries(of *result.Run) { p.QuerySeed = of.QuerySeed }

// LoadRepeats is how often each target is loaded, if not cut short: see
// execution.longLoads. The command that only loads does so once, where nobody
// said otherwise.
func (p *Plan) LoadRepeats() int {
	repeats, ifShort := p.Experiment.LoadRepeats()
	if ifShort && !p.Compares {
		return 1
	}
	return repeats
}
