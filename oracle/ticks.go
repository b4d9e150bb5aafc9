package oracle

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/tsmark/tsmark/oracle/ticks"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// newTicks initializes the evaluator from a shape of ticks.
func (e *evaluator) newTicks(s *series.Schema, groups *groupings) error {
	q := e.query
	if err := q.CheckIn(s); err != nil {
		return err
	}
	if by := q.Demands(); len(by) > 0 {
		if err := groups.identifies(e.table, by[0]); err != nil {
			return err
		}
		if right, _ := q.Right(); right != "" {
			if err := groups.sameTags(e.table, s.Table(right), by[0]); err != nil {
				return err
			}
		}
	}
	var matches func(uint32) bool
	if q.In != nil {
		set, err := groups.matching(e.table, q.In)
		if err != nil {
			return err
		}
		matches = func(series uint32) bool { return set.has(int(series)) }
	}
	e.role, e.ticks = collects, ticks.New(s, q, matches)
	return nil
}

// identifies returns an error if series of a table share a value of a tag.
func (g *groupings) identifies(table *series.Table, key string) error {
	by, err := g.groupBy(table, key)
	if err != nil {
		return err
	}
	seen := make(bitset, len(by.values)>>6+1)
	for _, n := range by.of {
		if n < 0 {
			continue
		}
		if seen.has(int(n)) {
			return fmt.Errorf("several series of table %s have the value %v of tag %s, which is to tell series apart", table.Name, by.values[n][0], key)
		}
		seen.add(int(n))
	}
	return nil
}

// sameTags returns an error if a series has another value of a tag in another table.
func (g *groupings) sameTags(a, b *series.Table, key string) error {
	here, err := g.groupBy(a, key)
	if err != nil {
		return err
	}
	there, err := g.groupBy(b, key)
	if err != nil {
		return err
	}
	for s := range here.of {
		x, y := here.value(here.of[s]), there.value(there.of[s])
		if x.Kind != y.Kind || !bytes.Equal(x.Text, y.Text) {
			return fmt.Errorf("a series has the value %v of tag %s in table %s, and %v in table %s", x, key, a.Name, y, b.Name)
		}
	}
	return nil
}

// ticksExpectation returns the answer of a shape of ticks.
func (e *evaluator) ticksExpectation() Expectation {
	x, rows, digest := Expectation{Query: e.query}, &query.Answer{}, query.NewDigest(e.columns)
	whole := e.keep || !e.query.Stored()
	e.err = e.ticks.Answer(func(row []query.Value) {
		_ = digest.Row(row) // a Digest takes every row, and an Answer does
		if whole {
			_ = rows.Row(row)
		}
	})
	if x.Rows = digest.Rows(); whole {
		x.Answer = rows
	}
	if e.query.Stored() {
		x.Digest = digest
	}
	return x
}

// countAs returns a query whose answer has as many rows, and is cheaper to count.
func countAs(q *query.Query) *query.Query {
	as := *q
	switch s := q.Shape.(type) {
	case query.AsOf:
		as.Shape = query.Rows{Fields: s.Fields, Tag: s.By, Order: query.Ascending}
	case query.Around:
		as.Shape = query.Rows{Fields: s.Fields, Tag: s.By, Order: query.Ascending}
	default:
		return q
	}
	return &as
}

// countable is a sequence of queries with as many rows as those of another one.
func countable(queries iter.Seq[query.Query]) iter.Seq[query.Query] {
	return func(yield func(query.Query) bool) {
		for q := range queries {
			if !yield(*countAs(&q)) {
				return
			}
		}
	}
}
