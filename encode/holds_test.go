package encode_test

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// Formats refuse the names and empty tags that they cannot hold.
func TestNamesRefused(t *testing.T) {
	const pairs = "timescaledb clickhouse timestream "
	for _, c := range []struct{ table, tag, field, value, refused string }{
		{"a b", "k", "f g", "v", ""},
		{"t", "k l", "f", "v", pairs + "cratedb"},
		{"a,b", "k", "f", "v", pairs + "cratedb cassandra"},
		{"t", "k", "f=g", "v", pairs + "cassandra"},
		{"t", "k", "f\ng", "v", "influx questdb victoriametrics " + pairs + "cratedb cassandra"},
		{"t", `k\`, "f", "v", "influx questdb victoriametrics"},
		{"#t", "k", "f", "v", "influx questdb victoriametrics cassandra"},
		{"tags", "k", "f", "v", pairs + "cratedb"},
		{"t", "k", "time", "v", "influx questdb victoriametrics"},
		{"t", "__name__", "f", "v", "prometheus"},
		{"t", "k", "f", "", "influx questdb victoriametrics " + pairs + "cratedb prometheus"},
	} {
		table := &series.Table{Name: c.table, Fields: []series.Field{{Name: c.field, Type: series.Float}},
			Tags: []series.Tag{{Key: c.tag, Values: tagOf(c.value)}}}
		var refused []string
		for _, f := range encode.Formats() {
			if _, err := f.New(&series.Schema{Tables: []*series.Table{table}, Series: 1}); err != nil {
				refused = append(refused, f.Name)
			}
		}
		if got := strings.TrimSpace(strings.Join(refused, " ")); got != strings.TrimSpace(c.refused) {
			t.Errorf("%+v: refused by %q", c, got)
		}
	}
}

type tagOf string

func (v tagOf) Append(dst []byte, _ uint32) ([]byte, bool) { return append(dst, v...), true }
