package verify

import (
	"math"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// openValue says how far a field's figures may be from those of the later rows of all collisions.
type openValue struct {
	count  int64   // of values
	sum    float64 // of differences
	values []query.Value
}

// openValues returns the open values of a table's fields, and the number of its collisions; nil: it has
// none.
func openValues(collisions []oracle.Collision, of *oracle.Census) (open []openValue, count int64) {
	for i := range collisions {
		c := &collisions[i]
		if c.Table != of.Table {
			continue
		}
		if open == nil {
			open = make([]openValue, len(of.Fields))
		}
		count++
		for f := range open {
			older, later := c.Values[0][f], c.Values[1][f]
			if (older.Kind == query.Null) != (later.Kind == query.Null) {
				open[f].count++
			}
			a, _ := older.Number()
			b, _ := later.Number()
			open[f].sum += math.Abs(a - b)
			open[f].values = append(open[f].values, older, later)
		}
	}
	return open, count
}

// openCount is the number of values of a field that the target may have more or less than expected.
func (c *census) openCount(field int) int64 {
	if c.open == nil {
		return 0
	}
	return c.open[field].count
}

// explains reports whether other choices between colliding rows explain every difference of a field's
// figures.
func (o *openValue) explains(f series.Field, expected *oracle.Content, found *driver.Content, rounding float64) bool {
	t := f.Type
	if t.Textual() {
		return len(o.values) > 0 // digests have no bounds
	}
	if found.Sum != nil && !sameSum(t, expected, found, rounding) {
		sum, ok := found.Sum.Number()
		if found.Scaled {
			sum /= math.Pow10(f.Decimals)
		}
		want := expected.Float
		if t.UsesInts() {
			want = expected.Whole.Float()
		}
		if !ok || math.Abs(sum-want) > o.sum*(1+1e-9)+query.SumBound(expected.Count, expected.Size) {
			return false
		}
	}
	for _, edge := range [][2]*query.Value{{&expected.Min, found.Min}, {&expected.Max, found.Max}} {
		if edge[1] == nil || expected.Count > 0 && edge[0].Kind == query.Null {
			continue
		}
		if column := (query.Column{Kind: query.KindOf(t)}); !column.Equal(*edge[0], *edge[1]) && !nearly(*edge[0], *edge[1], rounding) && !o.has(column, *edge[0]) && !o.has(column, *edge[1]) {
			return false
		}
	}
	return true
}

// has reports whether a value is one of the colliding rows'.
func (o *openValue) has(column query.Column, v query.Value) bool {
	for i := range o.values {
		if column.Equal(o.values[i], v) {
			return true
		}
	}
	return false
}
