package plan

import (
	"fmt"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"

	"github.com/tsmark/tsmark/result"
)

// JobKind is the work on a target between opening and closing it.
type JobKind uint8

const (
	Load    JobKind = iota // load, settle, count
	Check                  // count rows if nothing was loaded; compare answers
	Query                  // measure queries
	Compare                // compare the answers recorded during the measurement
	Crash                  // crash the loaded target again and again
)

// Job is a job on one target in one repeat. It is the smallest part of a run that is executed again
// when the run is resumed, except that finished query types are kept.
type Job struct {
	Kind   JobKind
	Target int // index in the plan
	Repeat int // from 1
}

// Order returns the jobs of a plan, part by part: all loads, then crashes, or the checks, then rounds
// of queries, then the comparison of the answers recorded in these. Each job opens the target again,
// so that all repeats start alike.
//
// Loads and rounds of queries are in random order. All orders of a part's jobs are equally likely.
// The Mann-Whitney test assumes this: any disturbance of some jobs by the machine then shows a
// false difference no more often than the level of the test. A shuffle within each round is not
// enough. In simulations of six rounds with every second job 30 % slower, a fixed order shows a
// false difference in 100 % of runs, a shuffle within rounds in 11 %, and this order in 4 %. Pairs
// of mirrored rounds show none there, but one in 26 % of runs with two of four jobs slower. The
// price is power under a steady drift, which rounds cancel: at 10 % drift and six rounds, a
// difference of 5 % is found in 57 % of runs rather than in 61 %.
func (p *Plan) Order(seed string) []Job {
	random := rand.New(rand.NewPCG(xxhash.Sum64String(seed), xxhash.Sum64String("order of turns")))
	var cells []Job
	for _, part := range p.Groups() {
		oncePerTarget := func(j JobKind) {
			for _, i := range part {
				cells = append(cells, Job{j, i, 1})
			}
		}
		shuffled := func(j JobKind, first, last int) {
			cells = append(cells, shuffledJobs(random, j, part, first, last)...)
		}
		if p.Steps.Load {
			first, last := 1, p.LoadRepeats()
			if _, ifShort := p.Experiment.LoadRepeats(); ifShort { // see longLoads of package runner
				shuffled(Load, 1, 1)
				first = 2
			}
			shuffled(Load, first, last)
		}
		if p.Experiment.Crash.Enabled() {
			oncePerTarget(Crash)
		}
		if p.Steps.Verify && !p.Experiment.Life.Enabled() { // whose answers were compared, and whose contents are no longer the dataset's
			oncePerTarget(Check)
		}
		if p.Steps.Query {
			shuffled(Query, 1, p.Experiment.QueryRepeats())
			oncePerTarget(Compare)
		}
	}
	return cells
}

// shuffledJobs returns the jobs of a kind for each target and repeat in random order.
func shuffledJobs(random *rand.Rand, kind JobKind, part []int, first, last int) []Job {
	var targets []int
	for range last - first + 1 {
		targets = append(targets, part...)
	}
	random.Shuffle(len(targets), func(a, b int) { targets[a], targets[b] = targets[b], targets[a] })
	jobs, taken := make([]Job, len(targets)), make(map[int]int) // jobs by target
	for at, i := range targets {
		jobs[at] = Job{kind, i, first + taken[i]}
		taken[i]++
	}
	return jobs
}

// FurtherRounds returns the jobs of rounds after those of Order for some targets, in random order:
// see Order for the reason.
func (p *Plan) FurtherRounds(seed string, targets []int, first, last int) []Job {
	random := rand.New(rand.NewPCG(xxhash.Sum64String(seed), xxhash.Sum64String(fmt.Sprintf("rounds from %d", first))))
	return shuffledJobs(random, Query, targets, first, last)
}

// KeepOrder makes a run of the plan use the order of jobs of an earlier run of the same experiment.
func (p *Plan) KeepOrder(of *result.Run) { p.OrderSeed = of.OrderSeed }

// KeepQueries makes a run of the plan use the queries of an earlier run of the same experiment.
func (p *Plan) KeepQueries(of *result.Run) { p.QuerySeed = of.QuerySeed }

// LoadRepeats is the number of loads of each target, unless cut short: see longLoads of package
// runner. The load command loads once by default.
func (p *Plan) LoadRepeats() int {
	repeats, ifShort := p.Experiment.LoadRepeats()
	if ifShort && !p.Compares {
		return 1
	}
	return repeats
}
