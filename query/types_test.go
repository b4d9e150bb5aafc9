package query

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
)

// typedTable is a table with a field of each type, named after it.
func typedTable() *series.Table {
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
func TestFieldsOfQueries(t *testing.T) {
	table := typedTable()
	for _, f := range table.Fields {
		one := []string{f.Name}
		for _, s := range []Shape{
			Rows{Fields: one}, AnyRows{Fields: one, Limit: 1}, Last{By: "device", Fields: one}, Totals{Aggregate: Count, Fields: one, GroupBy: "device"},
		} {
			if err := (&Query{Shape: s}).Check(table); err != nil {
				t.Errorf("%+v: %v", s, err)
			}
		}
		for _, q := range []Query{
			{Shape: Buckets{Aggregate: Max, Fields: one, Width: 1}}, {Shape: Totals{Aggregate: Sum, Fields: one, GroupBy: "device"}},
			{Shape: Means{Fields: one}}, {Shape: UnitMeans{Fields: one, Unit: "device"}},
			{Shape: Rows{Fields: one}, Filter: &ValueFilter{Field: "int", And: one}},
			{Shape: Last{By: "device", Fields: one, Having: &RatioCondition{Condition: Condition{Field: f.Name}}}},
			{Shape: Starts{Activity: Activity{Unit: "device", Width: time.Hour, Field: f.Name}}},
		} {
			if err := q.Check(table); (err == nil) != f.Type.Numeric() {
				t.Errorf("%+v of %s: error %v", q.Shape, f.Name, err)
			}
		}
	}
	want := []Kind{Time, Text, Bool, Int, Int, Float, Float, Text, Time, Date, Text}
	rows := Rows{Tag: "device"}
	for _, f := range table.Fields {
		rows.Fields = append(rows.Fields, f.Name)
	}
	q := Query{Shape: rows}
	for i, c := range q.Columns(table) {
		if c.Kind != want[i] {
			t.Errorf("column %s is of kind %d, want %d", c.Name, c.Kind, want[i])
		}
	}
}

// What a shape cannot mean is not taken.
func TestCheck(t *testing.T) {
	table := typedTable()
	on := func(field string) Condition { return Condition{Field: field} }
	fields, by := []string{"int"}, "device"
	for says, s := range map[string]Shape{
		"no shape":       nil,
		"no width":       Buckets{Aggregate: Max, Fields: fields},
		"no order":       Buckets{Aggregate: Max, Fields: fields, Width: 1, Limit: 1},
		"median":         Totals{Aggregate: "median", Fields: fields, GroupBy: by},
		"totals without": Totals{Aggregate: Max, Fields: fields},
		"is below 1":     AnyRows{Fields: fields},
		"of 1 answers":   RowSet{Fields: fields, Set: Set{Operation: Union, Operands: 1}},
		"last rows":      Last{Fields: fields},
		`field "float"`:  Last{By: by, Fields: fields, Having: &RatioCondition{Condition: on("float")}},
		`"nothing"`:      Means{Group: []string{by}, Fields: fields, Having: &Condition{Field: "nothing"}},
		"of units":       UnitMeans{Group: []string{by}, Fields: fields},
		"not grouped":    UnitMeans{Fields: fields, Unit: by, Over: by},
		"divide a day":   Starts{Activity: Activity{Unit: by, Width: 7 * time.Hour, Field: "int"}},
		"names no field": Rows{},
		`no tag "x"`:     Rows{Fields: fields, Tag: "x"},
		`no field "x"`:   Rows{Fields: []string{"x"}},
	} {
		q := Query{Shape: s}
		if err := q.Check(table); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: error %v, want %q", s, err, says)
		}
	}
}

// A query is read as it was stored, and what its shape has not is refused.
func TestStored(t *testing.T) {
	active := Activity{Unit: "truck", Width: time.Hour, Field: "speed", Zeros: true, Compare: AtLeast, Value: 0.5}
	having := Condition{Field: "a", Compare: Less, Value: 2}
	for _, s := range []Shape{
		nil, Buckets{Avg, []string{"a"}, time.Hour, "t", Descending, 3}, Totals{Max, []string{"a"}, "t"}, Rows{[]string{"a"}, "t", Ascending},
		AnyRows{[]string{"a"}, "t", 5}, RowSet{[]string{"a"}, "t", Set{Union, true, 2}}, Last{"t", []string{"u"}, []string{"a"}, &RatioCondition{having, "w"}},
		Means{[]string{"t"}, []string{"a"}, []string{"w"}, &having}, UnitMeans{[]string{"t"}, "u", []string{"a"}, "t"},
		ActiveUnits{active, 4}, ActiveHours{active}, Sessions{active}, ActiveShare{active, []string{"t"}}, Starts{active, []string{"t"}},
	} {
		q, back := Query{Type: "x", ID: 2, Table: "cpu", Start: time.Unix(1, 0).UTC(), Present: []string{"t"}, Shape: s}, Query{}
		text, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(q, back) {
			t.Errorf("%s is read as %+v, %v", text, back, err)
		}
	}
	var q Query
	err := json.Unmarshal([]byte(`{"shape": "buckets", "fields": ["a"], "unit": "truck", "having": {"field": "a"}}`), &q)
	if err == nil || !strings.Contains(err.Error(), "buckets") {
		t.Errorf("a bucket with a condition is read as %+v, %v", q, err)
	}
}
