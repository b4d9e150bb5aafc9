package query

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// tolerance is the maximum difference of a float from the expected one, relative to the larger of
// both: enough for another order of summation, not for float32. Where terms cancel, Value.Tolerance
// applies.
const tolerance = 1e-9

// canonical converts v to the column's kind if the conversion loses nothing. Databases store
// integers as doubles and vice versa; without a type for times they store nanoseconds since 1970,
// without booleans 0 and 1, without dates the days since 1970 or the time at which the day begins.
func (c Column) canonical(v Value) Value {
	if c.Kind == Bool || c.Kind == Date {
		return c.canonicalOrdinal(v)
	}
	switch {
	case c.Kind == Int && v.Kind == Float && v.Float == math.Trunc(v.Float) && math.Abs(v.Float) <= 1<<53:
		return Value{Kind: Int, Int: int64(v.Float)}
	case c.Kind == Time && v.Kind == Int:
		return Value{Kind: Time, Int: v.Int}
	case c.Kind == Float && v.Kind == Int:
		return Value{Kind: Float, Float: float64(v.Int)}
	}
	return v
}

// canonicalOrdinal is canonical for columns of booleans and dates.
func (c Column) canonicalOrdinal(v Value) Value {
	n := v.Int
	switch v.Kind {
	case Float:
		if n = int64(v.Float); float64(n) != v.Float {
			return v
		}
	case Time:
		const day = 24 * time.Hour
		if BucketOf(n, day) != n || c.Kind == Bool {
			return v
		}
		n /= int64(day)
	case Int:
	default:
		return v
	}
	if c.Kind == Bool && n != 0 && n != 1 {
		return v
	}
	return Value{Kind: c.Kind, Int: n}
}

// equal reports whether canonical values agree: integers exactly, floats
// within the tolerance, NaN with NaN, an infinity with itself alone.
func equal(a, b Value) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Time, Int, Bool, Date:
		return a.Int == b.Int
	case Text:
		return bytes.Equal(a.Text, b.Text)
	case Float:
		larger := math.Max(math.Abs(a.Float), math.Abs(b.Float))
		return a.Float == b.Float || math.IsNaN(a.Float) && math.IsNaN(b.Float) ||
			// The tolerance of an infinity is infinite too.
			!math.IsInf(larger, 0) && math.Abs(a.Float-b.Float) <= max(tolerance*larger, float64(a.Tolerance), float64(b.Tolerance))
	}
	return true
}

// compareValues orders values: NULL first, then by kind, then by value.
func compareValues(a, b Value) int {
	if a.Kind != b.Kind {
		return cmp.Compare(a.Kind, b.Kind)
	}
	switch a.Kind {
	case Time, Int, Bool, Date:
		return cmp.Compare(a.Int, b.Int)
	case Text:
		return bytes.Compare(a.Text, b.Text)
	case Float:
		return cmp.Compare(a.Float, b.Float)
	}
	return 0
}

// Difference is the first way in which an answer is not the expected one.
type Difference struct {
	Problem  string // missing row, unexpected row, wrong value, or wrong order
	Expected string // the row expected; empty for an unexpected one
	Found    string // the row found; empty for a missing one
}

// String is the difference in one line.
func (d *Difference) String() string {
	var b strings.Builder
	b.WriteString(d.Problem)
	if d.Expected != "" {
		fmt.Fprintf(&b, "; expected (%s)", d.Expected)
	}
	if d.Found != "" {
		fmt.Fprintf(&b, "; found (%s)", d.Found)
	}
	return b.String()
}

// Compare returns the first difference between the expected and the found answer to q, in rows,
// keys and values, and in order if q orders; nil if there is no difference. It sorts both answers'
// rows by key.
func Compare(q *Query, cols []Column, expected, found *Answer) *Difference {
	var disorder *Difference
	text, written := q.WrittenText()
	if q.Order() != Unordered {
		disorder = firstDisorder(q, found.Rows)
	}
	for _, a := range []*Answer{expected, found} {
		for _, row := range a.Rows {
			if len(row) != len(cols) {
				return &Difference{
					Problem: fmt.Sprintf("%d columns in place of %d", len(row), len(cols)),
					Found:   RowText(row),
				}
			}
			for i := range row {
				// Expected rows are canonical, and several answers may share
				// them: they are not written to.
				if v := cols[i].canonical(row[i]); v.Kind != row[i].Kind {
					row[i] = v
				}
			}
		}
		if !written {
			slices.SortFunc(a.Rows, CompareRows)
		}
	}
	if written {
		return text.differs(expected, found)
	}
	keys := q.Keys()
	if _, ok := q.AsPromQL(); ok {
		keys = len(cols) - 1
	}
	e, f := expected.Rows, found.Rows
	for at := 0; len(e) > 0 || len(f) > 0; at++ {
		order := 0
		switch {
		case len(e) == 0:
			order = 1
		case len(f) == 0:
			order = -1
		default:
			order = slices.CompareFunc(e[0][:keys], f[0][:keys], compareValues)
		}
		where := fmt.Sprintf("row %d in key order of %d expected and %d found: ", at+1, len(expected.Rows), len(found.Rows))
		switch {
		case order < 0:
			return &Difference{Problem: where + "missing", Expected: RowText(e[0])}
		case order > 0:
			return &Difference{Problem: where + "unexpected", Found: RowText(f[0])}
		}
		for i := range cols {
			if !equal(e[0][i], f[0][i]) {
				return &Difference{
					Problem:  where + "wrong " + cols[i].Name,
					Expected: RowText(e[0]), Found: RowText(f[0]),
				}
			}
		}
		e, f = e[1:], f[1:]
	}
	return disorder
}

// CompareRows orders rows by their values from the first column on: NULL before
// all else, texts bytewise.
func CompareRows(a, b []Value) int { return slices.CompareFunc(a, b, compareValues) }

// firstDisorder returns the first row that is out of order.
func firstDisorder(q *Query, rows [][]Value) *Difference {
	keys, newest := q.Keys(), q.Order() == Descending
	for i := 1; i < len(rows); i++ {
		if len(rows[i]) < keys || len(rows[i-1]) < keys {
			return nil // the wrong number of columns is the greater problem
		}
		order := slices.CompareFunc(rows[i-1][:keys], rows[i][:keys], compareValues)
		if newest {
			order = -order
		}
		if order > 0 {
			return &Difference{
				Problem: fmt.Sprintf("row %d: wrong order, it must come before the row above it (%s)", i+1, RowText(rows[i-1])),
				Found:   RowText(rows[i]),
			}
		}
	}
	return nil
}

// RowText shows a row as messages print it.
func RowText(row []Value) string {
	texts := make([]string, len(row))
	for i, v := range row {
		texts[i] = v.String()
	}
	return strings.Join(texts, ", ")
}
