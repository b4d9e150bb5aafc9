package query

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
)

// typed is a table with a field of each type, named after it.
func typed() *series.Table {
	t := &series.Table{Name: "t", Tags: []series.Tag{{Key: "device"}}}
	for _, kind := range series.Types() {
		t.Fields = append(t.Fields, series.Field{Name: kind.String(), Type: kind})
	}
	return t
}

// What systems hold in the place of booleans and dates is the same value, and
// reads as it; another value is not.
func TestBooleansAndDates(t *testing.T) {
	const day = int64(24 * time.Hour)
	for _, test := range []struct {
		kind     Kind
		from, to Value
		text     string
	}{
		{Bool, Value{Kind: Int, Int: 1}, Value{Kind: Bool, Int: 1}, "true"},
		{Bool, Value{Kind: Float}, Value{Kind: Bool}, "false"},
		{Bool, Value{Kind: Int, Int: 2}, Value{Kind: Int, Int: 2}, "2"},
		{Bool, Value{Kind: Float, Float: 0.5}, Value{Kind: Float, Float: 0.5}, "0.5"},
		{Bool, Value{Kind: Text, Text: []byte("t")}, Value{Kind: Text, Text: []byte("t")}, "t"},
		{Date, Value{Kind: Int, Int: -1}, Value{Kind: Date, Int: -1}, "1969-12-31"},
		{Date, Value{Kind: Time, Int: -day}, Value{Kind: Date, Int: -1}, "1969-12-31"},
		{Date, Value{Kind: Time, Int: 18_993 * day}, Value{Kind: Date, Int: 18_993}, "2022-01-01"},
		{Date, Value{Kind: Time, Int: 1}, Value{Kind: Time, Int: 1}, "1970-01-01T00:00:00.000000001Z"},
		{Date, Value{}, Value{}, "NULL"},
	} {
		got := Column{Kind: test.kind}.canonical(test.from)
		if !equal(got, test.to) || got.String() != test.text {
			t.Errorf("%v as kind %d is %v of kind %d, want %v of kind %d", test.from, test.kind, got, got.Kind, test.to, test.to.Kind)
		}
		columns := []Column{{Kind: test.kind}}
		one, other := NewDigest(columns), NewDigest(columns)
		_, _ = one.Row([]Value{test.from}), other.Row([]Value{test.to})
		if !one.Equal(other) {
			t.Errorf("%v and %v have different digests", test.from, test.to)
		}
	}
}

// All types are returned and counted; only numbers are compared and folded.
func TestFieldsOfQuestions(t *testing.T) {
	table := typed()
	for _, f := range table.Fields {
		for what, q := range map[string]Query{
			"rows": {Shape: Rows, Fields: []string{f.Name}}, "last": {Shape: Last, Fields: []string{f.Name}},
			"count": {Shape: Totals, Aggregate: Count, Fields: []string{f.Name}},
		} {
			if err := q.CheckFields(table); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		for what, q := range map[string]Query{
			"max": {Shape: Buckets, Aggregate: Max, Fields: []string{f.Name}}, "sum": {Shape: Totals, Aggregate: Sum, Fields: []string{f.Name}},
			"means": {Shape: Means, Fields: []string{f.Name}}, "above": {Shape: Rows, Fields: []string{f.Name}, Above: &Above{Field: "int", And: []string{f.Name}}},
			"having": {Shape: Last, Fields: []string{f.Name}, Having: &Condition{Field: f.Name}}, "active": {Shape: Activity, Active: &Active{Field: f.Name}},
		} {
			if err := q.CheckFields(table); (err == nil) != f.Type.Numeric() {
				t.Errorf("%s of %s: error %v", what, f.Name, err)
			}
		}
	}
	want := []Kind{Time, Text, Bool, Int, Int, Float, Float, Text, Time, Date, Text}
	q := Query{Shape: Rows, GroupBy: "device"}
	for _, f := range table.Fields {
		q.Fields = append(q.Fields, f.Name)
	}
	for i, c := range q.Columns(table) {
		if c.Kind != want[i] {
			t.Errorf("column %s is of kind %d, want %d", c.Name, c.Kind, want[i])
		}
	}
}
