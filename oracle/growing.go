package oracle

import (
	"context"
	"slices"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Growing answers queries while rows arrive: the answers are those of the rows added so far. Each
// query costs as much as its whole answer.
type Growing struct {
	evaluators []*evaluator // nil: PromQL
	promql     map[int]*growingPromQL
	runs       []span
	touched    []int
}

// NewGrowing takes the queries. There are no rows yet.
func NewGrowing(s *series.Schema, queries []query.Query) (*Growing, error) {
	groups := newGroupings(s)
	g := &Growing{promql: map[int]*growingPromQL{}}
	for i := range queries {
		one := growingPromQL{}
		if _, taken := one.take(&queries[i], true); taken {
			if _, err := one.start(s); err != nil {
				return nil, err
			}
			g.evaluators, g.promql[i] = append(g.evaluators, nil), &one
			continue
		}
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
		if e == nil {
			if g.promql[i].add(g.runs) {
				g.touched = append(g.touched, i)
			}
			continue
		}
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
	case e == nil:
		return g.promql[i].expectation().Rows
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
	if of := g.promql[i]; of != nil {
		return of.expectation()
	}
	return g.evaluators[i].expectation()
}

// growingPromQL answers one expression while rows arrive.
type growingPromQL struct {
	expressions
	known *Expectation // nil: samples were added since
}

// add reports whether the expression may read any of the samples.
func (g *growingPromQL) add(runs []span) bool {
	took := false
	for _, run := range runs {
		took = g.set.Add(run.Run) || took
	}
	if took {
		g.known = nil
	}
	return took
}

func (g *growingPromQL) expectation() Expectation {
	if g.known == nil {
		g.set.Finish()
		x, err := g.answer(context.Background(), 0)
		if err != nil { // such as labels that are equal until later samples come; no answer matches it
			x = Expectation{Query: g.queries[0], Rows: -2, Answer: &query.Answer{}}
		}
		g.known = &x
	}
	return *g.known
}
