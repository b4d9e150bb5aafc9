package oracle_test

import (
	"slices"
	"testing"

	"github.com/tsmark/tsmark/conformance/meaning"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
)

// The oracle answers as the documents say, and counts as many rows.
func TestMeaning(t *testing.T) {
	documents, err := meaning.Documents()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		for i := range d.Cases {
			c := &d.Cases[i]
			found, err := oracle.Rows(t.Context(), d, &c.Query)
			if err != nil {
				t.Errorf("%s:%d: %v", d.Name, c.Line, err)
				continue
			}
			rows := int64(len(found.Rows))
			if problem := d.Check(c, found, false); problem != "" {
				t.Error(problem)
			}
			one := []query.Query{c.Query}
			pass, err := oracle.Pass(t.Context(), d, one, slices.Values(one), func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			if n := pass.Counted[0]; pass.Full[0].Rows != rows || n != rows && n != oracle.AnyNumber {
				t.Errorf("%s:%d: %s: a pass answers %d rows and counts %d, want %d", d.Name, c.Line, c.Name, pass.Full[0].Rows, pass.Counted[0], rows)
			}
		}
	}
}
