package oracle

import (
	"github.com/tsmark/tsmark/query"
)

// cell folds the values of one field.
type cell struct {
	n        int64   // values
	integer  int64   // the largest or smallest
	float    float64 // the largest or smallest, or for Avg and Sum the sum
	negative float64 // for Avg and Sum the sum of the negative values, without its sign
}

// sumTolerance is query.SumTolerance of a sum, with its negative part as in cell.
func sumTolerance(n int64, sum, negative float64) float64 {
	return query.SumTolerance(n, sum+2*negative)
}

func (c *cell) foldInt(a query.Aggregate, v int64) {
	switch {
	case a == query.Avg || a == query.Sum:
		c.addFloat(float64(v))
	case c.n == 0 || a == query.Max && v > c.integer || a == query.Min && v < c.integer:
		c.integer = v
	}
}

func (c *cell) foldFloat(a query.Aggregate, v float64) {
	switch {
	case a == query.Avg || a == query.Sum:
		c.addFloat(v)
	case c.n == 0 || a == query.Max && v > c.float || a == query.Min && v < c.float:
		c.float = v
	}
}

func (c *cell) addFloat(v float64) {
	if c.float += v; v < 0 {
		c.negative -= v
	}
}

// put sets a NULL value to the folded one; it remains NULL if no values were folded.
func (c *cell) put(v *query.Value, a query.Aggregate, kind query.Kind) {
	switch {
	case a == query.Count:
		v.Kind, v.Int = query.Int, c.n
	case c.n == 0:
	case a == query.Avg:
		v.Kind, v.Float = query.Float, c.float/float64(c.n)
		v.Allow(sumTolerance(c.n, c.float, c.negative) / float64(c.n))
	case kind == query.Int:
		v.Kind, v.Int = query.Int, c.integer
	default:
		v.Kind, v.Float = query.Float, c.float
		v.Allow(sumTolerance(c.n, c.float, c.negative))
	}
}
