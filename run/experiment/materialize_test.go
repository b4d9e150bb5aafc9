package experiment

import (
	"strings"
	"testing"
)

// Errors in the section name their position.
func TestMaterialize(t *testing.T) {
	for _, c := range []struct{ section, want string }{
		{"{bucket: 1h}", ""},
		{"{bucket: 1h, aggregates: [mean, count], fields: [usage_user], types: [double-groupby-1], while-loading: true}", ""},
		{"{bucket: -1h}", "materialize.bucket: must be 0 (no aggregate) or more, not -1h"},
		{"{types: [double-groupby-1]}", "materialize.bucket: is missing"},
		{"{bucket: 1h, aggregates: [mean, avg]}", `materialize.aggregates[1]: "avg" is not an aggregate; known: mean, max, min, sum, count`},
		{"{bucket: 1h, types: [lastpoint]}", `materialize.types[0]: "lastpoint" is not in queries.types; add it there`},
		{"{bucket: 1h}\nmixed: {loaded: 50}", "materialize: cannot stand beside a mixed part"},
		{"{bucket: 1h}\nload: {file: rows.gz}", "materialize: is for rows that are generated"},
	} {
		e, err := Parse("f.yaml", []byte("queries: {types: [double-groupby-1]}\nmaterialize: "+c.section+"\n"))
		if err == nil {
			err = e.Check()
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.section, err, c.want)
		}
	}
}
