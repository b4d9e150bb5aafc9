package oracle

import (
	"github.com/tsmark/tsmark/query"
)

// cell folds the values of one field.
type cell struct {
	n       int64   // values
	integer int64   // the largest or smallest
	float   float64 // the largest or smallest, or for Avg and Sum the sum
}

func (c *cell) foldInt(a query.Aggregate, v int64) {
	switch {
	case a == query.Avg || a == query.Sum:
		c.float += float64(v)
	case c.n == 0 || a == query.Max && v > c.integer || a == query.Min && v < c.integer:
		c.integer = v
	}
}

func (c *cell) foldFloat(a query.Aggregate, v float64) {
	switch {
	case a == query.Avg || a == query.Sum:
		c.float += v
	case c.n == 0 || a == query.Max && v > c.float || a == query.Min && v < c.float:
		c.float = v
	}
}

// value is the folded value; NULL where there was none to fold.
func (c *cell) value(a query.Aggregate, kind query.Kind) query.Value {
	switch {
	case a == query.Count:
		return query.Value{Kind: query.Int, Int: c.n}
	case c.n == 0:
		return query.Value{}
	case a == query.Avg:
		return query.Value{Kind: query.Float, Float: c.float / float64(c.n)}
	case kind == query.Int:
		return query.Value{Kind: query.Int, Int: c.integer}
	}
	return query.Value{Kind: query.Float, Float: c.float}
}
