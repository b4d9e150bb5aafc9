package query

import (
	"testing"
	"time"
)

// Everything about a query counts, and so does the order.
func TestFingerprint(t *testing.T) {
	base := func() []Query {
		start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
		return []Query{
			{Type: "a", Table: "cpu", Start: start, In: &TagIn{Key: "h", Values: []string{"1"}}, Shape: Buckets{Fields: []string{"x"}, Width: time.Minute}},
			{Type: "a", ID: 1, Table: "cpu", Shape: Last{}},
		}
	}
	of := func(q []Query) string {
		t.Helper()
		print := NewFingerprint()
		for i := range q {
			if err := print.Add(&q[i]); err != nil {
				t.Fatal(err)
			}
		}
		return print.String()
	}
	want := of(base())
	if of(base()) != want || len(want) != 16 {
		t.Errorf("fingerprints %s and %s", want, of(base()))
	}
	for name, change := range map[string]func(q []Query) []Query{
		"window": func(q []Query) []Query { q[0].Start = q[0].Start.Add(1); return q },
		"host":   func(q []Query) []Query { q[0].In.Values[0] = "2"; return q },
		"shape":  func(q []Query) []Query { q[0].Shape = Last{}; return q },
		"order":  func(q []Query) []Query { return []Query{q[1], q[0]} },
		"fewer":  func(q []Query) []Query { return q[:1] },
	} {
		if of(change(base())) == want {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
}
