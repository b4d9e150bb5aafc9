package query

import (
	"math"

	"github.com/tsmark/tsmark/series"
)

// ValueFilter keeps rows by comparing the values of fields with a constant. NULL and NaN fulfil no
// comparison. Values and the constant are compared exactly: neither is rounded.
type ValueFilter struct {
	Field   string
	And     []string // further fields whose values must fulfil the comparison too
	Compare Comparison
	Value   float64
}

// Fields returns all fields that are compared.
func (f *ValueFilter) Fields() []string { return append([]string{f.Field}, f.And...) }

// Comparison is the operator that compares a value with a bound.
type Comparison uint8

// The comparisons.
const (
	Greater Comparison = iota
	Less
	AtLeast
	Equal
)

// Comparisons lists them.
func Comparisons() []Comparison { return []Comparison{Greater, Less, AtLeast, Equal} }

// String is the comparison's operator in SQL and InfluxQL.
func (c Comparison) String() string { return [...]string{">", "<", ">=", "="}[c] }

// DoubleEquals is the operator in languages that write equality as ==.
func (c Comparison) DoubleEquals() string {
	if c == Equal {
		return "=="
	}
	return c.String()
}

// Holds reports whether v compares so with the bound. NaN never does.
func (c Comparison) Holds(v, bound float64) bool {
	switch c {
	case Less:
		return v < bound
	case AtLeast:
		return v >= bound
	case Equal:
		return v == bound
	}
	return v > bound
}

// HoldsWhole reports whether an integer compares so with the bound. Neither is rounded.
func (c Comparison) HoldsWhole(v int64, bound float64) bool {
	switch {
	case math.Abs(bound) < 1<<53: // the float64 of a larger integer is beyond it too
		return c.Holds(float64(v), bound)
	case bound >= 1<<63:
		return c == Less
	case bound < -1<<63:
		return c == Greater || c == AtLeast
	}
	whole := int64(bound) // exactly: beyond 2^53 it has no fraction
	switch c {
	case Less:
		return v < whole
	case AtLeast:
		return v >= whole
	case Equal:
		return v == whole
	}
	return v > whole
}

// Wholes returns the comparison of integers of a type that is equivalent to the comparison with a
// bound. Its own bound is of the type, so that it has a literal, and databases need not convert each
// value. If all integers fulfil it, it is AtLeast the least one; if none does, it is Greater than the
// largest one.
func (c Comparison) Wholes(bound float64, t series.Type) (Comparison, int64) {
	least, most := t.Bounds()
	down, up := math.Floor(bound), math.Ceil(bound)
	behind := float64(most) + 1 // of 64 bits, float64(most) is this already
	switch {
	case c == Greater && down >= float64(most), c == AtLeast && up >= behind, c == Less && up <= float64(least),
		c == Equal && (down != up || down < float64(least) || down >= behind):
		return Greater, most
	case c == Greater && down < float64(least), c == AtLeast && up <= float64(least), c == Less && up >= behind:
		return AtLeast, least
	case c == Greater, c == Equal:
		return c, int64(down)
	}
	return c, int64(up)
}

// WholesNoLeast is Wholes for integers of 64 bits in languages that have no literal of the least one.
func (c Comparison) WholesNoLeast(bound float64) (Comparison, int64) {
	c, n := c.Wholes(bound, series.Int)
	switch {
	case n > math.MinInt64:
		return c, n
	case c == Equal:
		return Less, n + 1
	}
	return AtLeast, n + 1
}
