package sql

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// typedSchema is a schema of one table with a field of each type, named after it.
func typedSchema() *series.Schema {
	t := &series.Table{Name: "t", Tags: []series.Tag{{Key: "device"}}}
	for _, kind := range series.Types() {
		t.Fields = append(t.Fields, series.Field{Name: kind.String(), Type: kind})
	}
	return &series.Schema{Tables: []*series.Table{t}, Series: 1}
}

// Sums are of doubles whatever the field is; a bound on whole numbers is whole.
func TestNumbersOfTypes(t *testing.T) {
	for name, want := range map[string][2]string{
		"int32":   {"sum(t.int32 * 1e0) AS sum_int32", "t.int32 > 0"},
		"float32": {"sum(t.float32 * 1e0) AS sum_float32", "t.float32 > 0.5e0"},
		"float":   {"sum(t.float) AS sum_float", "t.float > 0.5e0"},
	} {
		q := query.Query{Table: "t", Filter: &query.ValueFilter{Field: name, Value: 0.5}, Shape: query.Totals{Aggregate: query.Sum, GroupBy: "device", Fields: []string{name}}}
		text, err := testDialect().Render(&q, typedSchema())
		if err != nil || !strings.Contains(text, want[0]) || !strings.Contains(text, want[1]) {
			t.Errorf("%v\n%s\nwant %q", err, text, want)
		}
	}
	q := query.Query{Type: "x", Table: "t", Shape: query.Totals{Aggregate: query.Max, GroupBy: "device", Fields: []string{"text"}}}
	if _, err := testDialect().Render(&q, typedSchema()); err == nil || err.Error() != "query x: it takes field text for a number, whose type is text" {
		t.Errorf("error %v", err)
	}
}

// A boolean without NULL is counted as a number.
func TestCountOfBooleans(t *testing.T) {
	d := testDialect()
	if got := d.CountExpression(series.Bool, "bool"); got != "bool" {
		t.Errorf("got %s", got)
	}
	d.NoBooleanNulls = true
	if got := d.CountExpression(series.Bool, "bool"); got != "CAST(bool AS INT)" {
		t.Errorf("got %s", got)
	}
	if got := d.CountExpression(series.Int32, "int32"); got != "int32" {
		t.Errorf("got %s", got)
	}
}

// A narrow table has each kind of value in a column of its own.
func TestNarrowColumns(t *testing.T) {
	for _, integers := range []bool{false, true} {
		var columns []string
		for _, kind := range series.Types() {
			columns = append(columns, (&Dialect{Integers: integers}).NarrowColumn(kind))
		}
		want := "value value value value value text moment day text"
		if integers {
			want = "whole whole whole value value text moment day text"
		}
		if got := strings.Join(columns, " "); got != want {
			t.Errorf("integers %v: %s, want %s", integers, got, want)
		}
	}
}
