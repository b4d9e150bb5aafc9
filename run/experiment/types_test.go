package experiment

import (
	"slices"
	"testing"

	"github.com/tsmark/tsmark/workload"
)

// Words select types of a workload; prefixed names after them are left out.
func TestChoose(t *testing.T) {
	known := []workload.QueryType{{Name: "a", Core: true}, {Name: "b"}, {Name: "c", Core: true}}
	for _, c := range []struct{ types, want []string }{
		{[]string{"core"}, []string{"a", "c"}},
		{[]string{"core", "-c"}, []string{"a"}},
		{[]string{"all"}, []string{"a", "b", "c"}},
		{[]string{"all", "-a"}, []string{"b", "c"}},
		{[]string{"c", "b"}, []string{"c", "b"}},
		{nil, nil},
	} {
		q := Queries{Types: c.types}
		if got := q.Choose(known); !slices.Equal(got, c.want) {
			t.Errorf("%q chooses %q, want %q", c.types, got, c.want)
		}
	}
}
