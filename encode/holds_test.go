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
	const samples = "prometheus openmetrics remote-write otlp"
	for _, c := range []struct{ table, tag, field, value, refused string }{
		{"a b", "k", "f g", "v", "openmetrics"},
		{"t", "k l", "f", "v", pairs + "cratedb openmetrics"},
		{"a,b", "k", "f", "v", pairs + "cratedb cassandra openmetrics"},
		{"t", "k", "f=g", "v", pairs + "cassandra openmetrics"},
		{"t", "k", "f\ng", "v", "influx questdb victoriametrics " + pairs + "cratedb cassandra openmetrics"},
		{"t", `k\`, "f", "v", "influx questdb victoriametrics openmetrics"},
		{"#t", "k", "f", "v", "influx questdb victoriametrics cassandra openmetrics"},
		{"tags", "k", "f", "v", pairs + "cratedb"},
		{"t", "k", "time", "v", "influx questdb victoriametrics"},
		{"t", "__name__", "f", "v", samples},
		{"t", "k", "f", "", "influx questdb victoriametrics " + pairs + "cratedb " + samples},
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
