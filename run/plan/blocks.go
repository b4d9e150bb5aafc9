package plan

import (
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// blocks defines the queries of a type that each repeat runs: consecutive ones, so that no repeat
// runs a query of another. A type with too few different queries runs the same queries in each
// repeat. Rounds after the last repeat, which a budget can have, run the ends of the blocks again: a
// slow type did not reach them before.
type blocks struct {
	Count    int     // number of queries that can be run
	Repeats  int     // at least 1
	Repeated bool    // all repeats run the first block
	same     []int32 // for each query, the index of the first equal one; nil: no query occurs twice
}

// fewTwice is the share of queries that may occur twice by chance, for example if a time is chosen
// out of some thousands, for dividing them into blocks.
const fewTwice = 0.1

// divider divides the queries of a type among repeats. It receives them one by one and stores only
// what identifies equal queries.
type divider struct {
	blocks blocks
	places map[uint64]int32 // by meaning, the first index
	taken  int
	alone  int // number of queries before the first repeated one
}

// newDivider returns a divider for the given number of queries.
func newDivider(count, repeats int) *divider {
	return &divider{blocks: blocks{Count: count, Repeats: max(repeats, 1)}, places: make(map[uint64]int32, count), alone: count}
}

// add adds the next query that can be measured.
func (d *divider) add(q *query.Query) {
	key := meaning(q)
	first, twice := d.places[key]
	switch {
	case twice && d.blocks.same == nil:
		d.alone, d.blocks.same = d.taken, make([]int32, d.blocks.Count)
		for earlier := range d.taken {
			d.blocks.same[earlier] = int32(earlier)
		}
	case !twice:
		first, d.places[key] = int32(d.taken), int32(d.taken)
	}
	if d.blocks.same != nil {
		d.blocks.same[d.taken] = first
	}
	d.taken++
}

// divide divides the added queries. Of the queries after them it returns the ones that differ, if
// there are any.
func (d *divider) divide(behind []query.Query) (blocks, []query.Query) {
	b, n := d.blocks, d.taken
	if b.Repeats > 1 && float64(n-len(d.places)) > fewTwice*float64(n) {
		b.Count = d.alone
		if d.alone/b.Repeats < result.LeastDifferent {
			b.Count, b.Repeated = n, true
		}
	}
	b.Repeated = b.Repeated || n < b.Repeats
	others := slices.DeleteFunc(slices.Clone(behind), func(q query.Query) bool {
		_, measured := d.places[meaning(&q)]
		return measured
	})
	if len(others) == 0 {
		others = behind
	}
	return b, others
}

// meaning is a hash that is equal for equal queries. For different queries equality is as unlikely
// as two equal random numbers of 64 bits.
func meaning(q *query.Query) uint64 {
	plain := *q
	plain.Type, plain.ID = "", 0
	text, err := json.Marshal(&plain)
	if err != nil {
		panic(err) // JSON can express all values of a Query
	}
	return xxhash.Sum64(text)
}

// Range returns the indexes of the queries that a repeat, from 1, runs: from first up to, not
// including, end.
func (b *blocks) Range(repeat int) (first, end int) {
	if b.Repeated {
		return 0, max(b.Count/b.Repeats, min(b.Count, result.LeastDifferent))
	}
	pass, block := (repeat-1)/b.Repeats, (repeat-1)%b.Repeats
	first, end = block*b.Count/b.Repeats, (block+1)*b.Count/b.Repeats
	return first + pass*(end-first)/passes, end
}

// passes is the maximum number of times that a budget goes through the blocks.
const passes = experiment.MostRounds / experiment.DefaultRepeats

// ID is the identifier of the query at an index: equal queries have equal identifiers.
func (b *blocks) ID(place int) int {
	if b.same == nil {
		return place
	}
	return int(b.same[place])
}

// LeastQueries returns the number of queries that a repeat must record so that all repeats together have as many
// different ones as a comparison needs.
func (b *blocks) LeastQueries(repeat int) int {
	first, end := b.Range(repeat)
	return max(min((result.LeastDifferent+b.Repeats-1)/b.Repeats, end-first), 1)
}

// choose returns n different indexes below a bound, ascending, each equally likely; all indexes if
// there are no more than n.
func choose(seed, text string, bound, places int) []int {
	random := rand.New(rand.NewPCG(xxhash.Sum64String(seed), xxhash.Sum64String(text)))
	chosen := make(map[int]bool)
	for len(chosen) < min(bound, places) {
		chosen[random.IntN(bound)] = true
	}
	list := make([]int, 0, len(chosen))
	for at := range chosen {
		list = append(list, at)
	}
	slices.Sort(list)
	return list
}
