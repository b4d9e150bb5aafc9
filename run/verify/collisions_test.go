package verify_test

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
)

// Of two rows with the same tags and time, a target may keep either or values of both, and nothing else.
func TestCollisions(t *testing.T) {
	table := conformance.Table("a", "b")
	for f := range table.Fields {
		table.Fields[f].Type = series.Float
	}
	number := func(v float64) query.Value { return query.Value{Kind: query.Float, Float: v} }
	// The later row has a = 7 and no b; the earlier one has a = 2 and b = 5.
	survey := &oracle.Survey{
		Tables: []oracle.Census{{Table: table, Rows: 10, Fields: []oracle.Content{
			{Count: 10, Float: 50, Size: 50, Min: number(3), Max: number(7)},
			{Count: 9, Float: 30, Size: 30, Min: number(1), Max: number(4)},
		}}},
		OneOf: []oracle.Collision{{Table: table, Values: [2][]query.Value{{number(2), number(5)}, {number(7), {}}}}},
	}
	field := func(count int64, sum, least, most float64) driver.Content {
		s, l, m := number(sum), number(least), number(most)
		return driver.Content{Count: count, Sum: &s, Min: &l, Max: &m}
	}
	for name, c := range map[string]struct {
		rows    int64
		a, b    driver.Content
		problem string
	}{
		"the later row":     {10, field(10, 50, 3, 7), field(9, 30, 1, 4), ""},
		"the earlier row":   {10, field(10, 45, 2, 6), field(10, 35, 1, 5), ""},
		"values of both":    {10, field(10, 50, 3, 7), field(10, 35, 1, 5), ""},
		"neither":           {9, field(9, 43, 3, 6), field(9, 30, 1, 4), "holds 9 rows, 10 expected; 1 of its rows are lost"},
		"both":              {11, field(11, 52, 2, 7), field(10, 35, 1, 5), "holds 11 rows, 10 expected"},
		"another sum":       {10, field(10, 56, 3, 7), field(9, 30, 1, 4), "sum of a is 56"},
		"another minimum":   {10, field(10, 50, 3, 7), field(9, 30, 0, 4), "min of b is 0"},
		"too many values":   {10, field(10, 50, 3, 7), field(11, 30, 1, 4), "holds 11 values of b, 9 expected"},
		"too few values":    {10, field(10, 50, 3, 7), field(7, 30, 1, 4), "holds 7 values of b, 9 expected"},
		"counted in points": {-1, field(10, 50, 3, 7), field(9, 30, 1, 4), ""},
	} {
		census := driver.Census{Rows: c.rows, Fields: []driver.Content{c.a, c.b}}
		found, err := verify.Census(t.Context(), driver.DB{Required: holds{tables: map[string]driver.Census{table.Name: census}}}, survey, verify.Sent{Acknowledged: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := found[0].Problem; !strings.Contains(got, c.problem) || (got == "") != (c.problem == "") || found[0].Merged != 1 {
			t.Errorf("%s: %q, want %q", name, got, c.problem)
		}
	}
}
