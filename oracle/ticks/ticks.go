// Package ticks computes the expected answers of the shapes of ticks, which look at each series by itself.
//
// Memory is proportional to the answer for Candles, Weighted, Movers, Gaps and Profile. AsOf, Around and Nth keep the
// rows of both tables that the query's window selects, and one row of each series before it, since rows may arrive
// late: eight bytes for the time and for each field.
package ticks

import (
	"fmt"
	"math"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Collector takes the rows of a dataset in the order of their arrival, and answers one query.
type Collector struct {
	q                    *query.Query
	table                *series.Table
	right                *series.Table // that is joined; nil: none
	columns              []query.Column
	tag                  *series.Tag // By; nil: Profile has none
	matches              func(series uint32) bool
	start, end           int64
	rightStart, rightEnd int64 // of the rows of right that count, half-open
	shape                shape
}

// shape computes the answer of one shape.
type shape interface {
	add(run *series.Run, row int)
	answer(c *Collector, emit func(row []query.Value)) error
}

// join is a shape that joins rows of another table.
type join interface {
	addRight(run *series.Run, row int)
}

// New returns a collector without rows, for a query that query.CheckIn accepts. matches tells which series the query
// selects; nil: all.
func New(s *series.Schema, q *query.Query, matches func(series uint32) bool) *Collector {
	c := &Collector{q: q, table: s.Table(q.Table), matches: matches}
	c.columns = q.Columns(c.table)
	c.start, c.end = q.Bounds()
	name, _ := q.Right()
	c.right, c.rightStart, c.rightEnd = s.Table(name), math.MinInt64, c.end
	if demands := q.Demands(); len(demands) > 0 {
		c.tag = c.table.Tag(demands[0])
	}
	switch s := q.Shape.(type) {
	case query.Candles:
		c.shape = newCandles(c.table, s)
	case query.Weighted:
		c.shape = newWeighted(c.table, s)
	case query.Movers:
		c.shape = newMovers(c.table, s)
	case query.Gaps:
		c.shape = newGaps(c.table, s)
	case query.Profile:
		c.shape = newProfile(c.table, s)
	case query.Nth:
		c.shape = newNth(c.table, s)
	case query.AsOf:
		if s.Tolerance > 0 {
			c.rightStart = moveTime(c.start, -int64(s.Tolerance))
		}
		c.shape = newAsOf(c, s)
	case query.Around:
		c.rightStart, c.rightEnd = moveTime(c.start, -int64(s.Before)), moveTime(c.end, int64(s.After))
		c.shape = newAround(c, s)
	}
	return c
}

// moveTime returns a time moved by a distance. Bounds that are absent stay so.
func moveTime(at, by int64) int64 {
	switch sum := at + by; {
	case at == math.MinInt64 || by < 0 && sum > at:
		return math.MinInt64
	case at == math.MaxInt64 || by > 0 && sum < at:
		return math.MaxInt64
	default:
		return sum
	}
}

// Concerns reports whether a run whose times lie between two, inclusive, may hold rows that the query needs.
func (c *Collector) Concerns(run *series.Run, first, last int64) bool {
	return run.Table.Name == c.table.Name && c.start <= last && first < c.end ||
		c.right != nil && run.Table.Name == c.right.Name && c.rightStart <= last && first < c.rightEnd
}

// Add takes the rows of a run.
func (c *Collector) Add(run *series.Run) {
	if run.Table.Name == c.table.Name {
		c.addEach(run, c.start, c.end, c.shape.add)
	} else if c.right != nil && run.Table.Name == c.right.Name {
		c.addEach(run, c.rightStart, c.rightEnd, c.shape.(join).addRight)
	}
}

func (c *Collector) addEach(run *series.Run, start, end int64, add func(*series.Run, int)) {
	for row, t := range run.Times {
		if t < start || t >= end || c.matches != nil && !c.matches(run.Series[row]) {
			continue
		}
		add(run, row)
	}
}

// Answer calls a function with each row of the answer, in no order. The row is valid until the function returns. The error
// names a query whose answer depends on the order of rows with equal times; the answer is then one of the possible
// ones.
func (c *Collector) Answer(emit func(row []query.Value)) error { return c.shape.answer(c, emit) }

// seriesName returns the value of By in a series; not ok: the series lacks the tag.
func (c *Collector) seriesName(series uint32) (v query.Value, ok bool) {
	text, ok := c.tag.Values.Append(nil, series)
	return query.Value{Kind: query.Text, Text: text}, ok
}

// tieError returns the error of rows with equal times; nil: no ties.
func (c *Collector) tieError(ties *tie) error {
	if ties == nil {
		return nil
	}
	name, _ := c.seriesName(ties.series)
	return fmt.Errorf("query %s %d has several correct answers: in table %s, %s %s has several rows at %v",
		c.q.Type, c.q.ID, ties.table.Name, c.tag.Key, name, timeValue(ties.time))
}

// tie is a time with several rows of a series.
type tie struct {
	table  *series.Table
	series uint32
	time   int64
}

func timeValue(t int64) query.Value { return query.Value{Kind: query.Time, Int: t} }

func double(v float64) query.Value { return query.Value{Kind: query.Float, Float: v} }

// sum is a sum of doubles with twice their precision: exact for whole numbers, which decimals are made before they are
// added.
type sum struct{ high, low float64 }

func (s *sum) add(v float64) {
	t := s.high + v
	z := t - s.high
	s.high, s.low = t, s.low+(s.high-(t-z)+(v-z))
}

func (s *sum) addProduct(a, b float64) {
	p := a * b
	s.add(p)
	s.low += math.FMA(a, b, -p)
}

// value returns the sum, divided by the scale of its numbers.
func (s *sum) value(scale float64) float64 { return (s.high + s.low) / scale }

// number reads the values of a numeric field.
type number struct {
	field int
	whole bool
	scale float64 // that makes the decimals of the field whole numbers
}

func numberOf(t *series.Table, name string) number {
	i := t.FieldIndex(name)
	f := &t.Fields[i]
	return number{i, f.Type.UsesInts(), math.Pow10(f.Decimals)}
}

func numbersOf(t *series.Table, names []string) []number {
	list := make([]number, len(names))
	for i, name := range names {
		list[i] = numberOf(t, name)
	}
	return list
}

// bits returns a value that is not NULL as it is stored: an integer, or the bits of a double.
func (n *number) bits(run *series.Run, row int) uint64 {
	if n.whole {
		return uint64(run.Columns[n.field].Ints[row])
	}
	return math.Float64bits(run.Columns[n.field].Floats[row])
}

// double returns a stored value as a double.
func (n *number) double(bits uint64) float64 {
	if n.whole {
		return float64(int64(bits))
	}
	return math.Float64frombits(bits)
}

// wholeNumber returns a stored value, of decimals as a whole number.
func (n *number) wholeNumber(bits uint64) float64 {
	v := n.double(bits)
	if n.scale > 1 {
		v = math.Round(v * n.scale)
	}
	return v
}

// value returns a stored value in an answer, of the kind of its field.
func (n *number) value(bits uint64) query.Value {
	if n.whole {
		return query.Value{Kind: query.Int, Int: int64(bits)}
	}
	return double(n.double(bits))
}

// isLess compares stored values.
func (n *number) isLess(a, b uint64) bool {
	if n.whole {
		return int64(a) < int64(b)
	}
	return n.double(a) < n.double(b)
}

// complete reports whether a row has a value of each field.
func complete(run *series.Run, row int, fields ...number) bool {
	for i := range fields {
		if run.Lacks(fields[i].field, row) {
			return false
		}
	}
	return true
}
