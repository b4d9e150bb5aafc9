package query_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tsmark/tsmark/query"
)

func text(s string) query.Value    { return query.Value{Kind: query.Text, Text: []byte(s)} }
func float(f float64) query.Value  { return query.Value{Kind: query.Float, Float: f} }
func intValue(i int64) query.Value { return query.Value{Kind: query.Int, Int: i} }

// Answers of texts are compared by the places of columns: floats within the tolerance,
// rows in any order unless that is part of the answer.
func TestCompareWritten(t *testing.T) {
	right := func() *query.Answer {
		return &query.Answer{Rows: [][]query.Value{
			{float(1), text("a"), intValue(5)},
			{float(1), text("b"), intValue(6)},
			{{}, text("c"), intValue(7)},
		}}
	}
	for name, c := range map[string]struct {
		found   [][]query.Value
		ordered bool
		differs bool
	}{
		"the same":             {found: right().Rows, ordered: true},
		"another order":        {found: [][]query.Value{{{}, text("c"), intValue(7)}, {float(1 + 1e-12), text("b"), intValue(6)}, {float(1), text("a"), intValue(5)}}},
		"an order that counts": {found: [][]query.Value{{{}, text("c"), intValue(7)}, {float(1), text("b"), intValue(6)}, {float(1), text("a"), intValue(5)}}, ordered: true, differs: true},
		"other kinds":          {found: [][]query.Value{{intValue(1), text("a"), float(5)}, {intValue(1), text("b"), float(6)}, {{}, text("c"), float(7)}}},
		"a wrong number":       {found: [][]query.Value{{float(1.001), text("a"), intValue(5)}, {float(1), text("b"), intValue(6)}, {{}, text("c"), intValue(7)}}, differs: true},
		"a wrong whole number": {found: [][]query.Value{{float(1), text("a"), intValue(5)}, {float(1), text("b"), intValue(6)}, {{}, text("c"), intValue(8)}}, differs: true},
		"0 for NULL":           {found: [][]query.Value{{float(1), text("a"), intValue(5)}, {float(1), text("b"), intValue(6)}, {float(0), text("c"), intValue(7)}}, differs: true},
		"a row too few":        {found: right().Rows[:2], differs: true},
		"a column too few":     {found: [][]query.Value{{float(1), text("a")}, {float(1), text("b")}, {{}, text("c")}}, differs: true},
		"none":                 {differs: true},
	} {
		q := &query.Query{Shape: query.Written{Ordered: c.ordered}}
		q = q.WithAnswer(right())
		if d := query.Compare(q, q.Columns(nil), right(), &query.Answer{Rows: c.found}); (d != nil) != c.differs {
			t.Errorf("%s: %v", name, d)
		}
	}
	q := (&query.Query{Shape: query.Written{}}).WithAnswer(&query.Answer{})
	if d := query.Compare(q, q.Columns(nil), &query.Answer{}, &query.Answer{}); d != nil {
		t.Errorf("two empty answers: %v", d)
	}
	if d := query.Compare(q, q.Columns(nil), &query.Answer{}, right()); d == nil {
		t.Error("rows without a correct one")
	}
}

// User-written queries survive storing and reading, except for their answers.
func TestStoreWritten(t *testing.T) {
	q := query.Query{Type: "x", ID: 3, Table: "cpu", Shape: query.Written{Texts: "0123", Ordered: true, Parameters: []query.Parameter{{Name: "hosts", Values: []string{"a"}}, {Name: "least", Values: []string{"1"}, Number: true}}}}
	stored, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var read query.Query
	if err := json.Unmarshal(stored, &read); err != nil || !reflect.DeepEqual(read, q) {
		t.Errorf("%s was read as %v, %v", stored, read, err)
	}
}
