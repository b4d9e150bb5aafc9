package oracle

import (
	"slices"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Growing answers queries while rows arrive: the answers are those of the rows added so far. Each
// query costs as much as its whole answer.
type Growing struct {
	evaluators []*evaluator
	runs       []span
	touched    []int
}

// NewGrowing takes the queries, which are not PromQL: see promql.States. There are no rows yet.
func NewGrowing(s *series.Schema, queries []query.Query) (*Growing, error) {
	groups := newGroupings(s)
	g := &Growing{}
	for i := range queries {
		e, err := newSingle(&queries[i], s, groups, false)
		if err != nil {
			return nil, err
		}
		g.evaluators = append(g.evaluators, e)
	}
	return g, nil
}

// Add adds the rows of a batch, and returns the indexes of the queries in
// whose table and window rows of it may lie: no other answer has changed. They
// hold until the next call.
func (g *Growing) Add(b *series.Batch) []int {
	g.runs, g.touched = spans(g.runs[:0], b), g.touched[:0]
	for i, e := range g.evaluators {
		if slices.ContainsFunc(g.runs, e.concerns) {
			e.addAll(g.runs)
			g.touched = append(g.touched, i)
		}
	}
	return g.touched
}

// Rows returns how many rows the answer to the i-th query has by now.
func (g *Growing) Rows(i int) int64 {
	e := g.evaluators[i]
	switch {
	case e.role == takes:
		if e.set == nil && e.needed == 0 {
			return e.digest.Rows()
		}
	case e.role == folds && e.width > 0:
		rows := 0
		for _, b := range e.blocks {
			rows += b.present.count()
		}
		if e.limit > 0 {
			rows = min(rows, e.limit)
		}
		return int64(rows)
	}
	return e.expectation().Rows
}

// Expectation returns the current answer to the i-th query. It is valid until the next call of Add.
func (g *Growing) Expectation(i int) Expectation {
	return g.evaluators[i].expectation()
}
