package plan

import (
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// blocks says which of a type's queries each repeat runs: successive ones, so that
// no repeat runs what another one has run. A type with too few different
// queries for that runs the same in each repeat.
type blocks struct {
	Count    int     // places of queries that can be run
	Repeats  int     // at least 1
	Repeated bool    // all repeats run the first block
	same     []int32 // by place, the first place of the same query; nil: no query comes again
}

// fewTwice is the share of queries that may come again by chance, as where a
// moment is drawn out of some thousand, in what is divided into blocks.
const fewTwice = 0.1

// divider divides the queries of a type among repeats. It takes them one by one,
// and keeps what tells which of them run the same.
type divider struct {
	blocks blocks
	places map[uint64]int32 // by meaning, the first place
	taken  int
	alone  int // places before the first query that comes again
}

// newDivider returns one for so many queries.
func newDivider(count, repeats int) *divider {
	return &divider{blocks: blocks{Count: count, Repeats: max(repeats, 1)}, places: make(map[uint64]int32, count), alone: count}
}

// add takes the next query, of those that can be measured.
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

// divide divides the queries that were taken. Of those behind them it returns the
// ones that run something else, in as far as there are such.
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

// meaning is the same for two queries that are the same. That two others have
// the same one is as unlikely as two equal numbers of 64 bits.
func meaning(q *query.Query) uint64 {
	plain := *q
	plain.Type, plain.ID = "", 0
	text, err := json.Marshal(&plain)
	if err != nil {
		panic(err) // a Query has no value that JSON cannot hold
	}
	return xxhash.Sum64(text)
}

// Range returns the places that a repeat, from 1, runs: from the first to before end.
func (b *blocks) Range(repeat int) (first, end int) {
	if b.Repeated {
		return 0, max(b.Count/b.Repeats, min(b.Count, result.LeastDifferent))
	}
	return (repeat - 1) * b.Count / b.Repeats, repeat * b.Count / b.Repeats
}

// ID is the identifier of the query at a place: the same for the same query.
func (b *blocks) ID(place int) int {
	if b.same == nil {
		return place
	}
	return int(b.same[place])
}

// Least is how many queries a repeat has to record so that all of them together
// have as many different ones as a comparison needs.
func (b *blocks) Least(repeat int) int {
	first, end := b.Range(repeat)
	return max(min((result.LeastDifferent+b.Repeats-1)/b.Repeats, end-first), 1)
}

// choose returns so many different places below a bound, in order, each as likely
// as any other; all of them where there are no more.
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
