package influxdb

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
)

// The bytes of all iterators count, unless the cache has values, which EXPLAIN ANALYZE leaves out.
func TestMeasureReads(t *testing.T) {
	const explained = `{"results":[{"series":[{"columns":["EXPLAIN ANALYZE"],"values":[["└── select"],["    ├── execution_time: 8.3ms"],` +
		`["    │   ├── float_blocks_decoded: 3"],["    │   ├── float_blocks_size_bytes: 700"],["    │   ├── integer_blocks_size_bytes: 30"],["        ├── float_blocks_size_bytes: 5"],[""]]}]}]}`
	for _, c := range []struct {
		cached, explained string
		want              driver.Read
		ok, fails         bool
	}{
		{"0", explained, driver.Read{Rows: -1, Bytes: 735}, true, false},
		{"12", explained, driver.Read{}, false, false},
		{"0", `{"results":[{}]}`, driver.Read{Rows: -1}, false, false},
		{"0", strings.Replace(explained, "30", "many", 1), driver.Read{}, false, true},
		{"0", `{"results":[{"error":"no such field"}]}`, driver.Read{}, false, true},
	} {
		d := newDatabase(settingsOf(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			if statement := r.FormValue("q"); strings.HasPrefix(statement, "EXPLAIN ANALYZE SELECT") {
				stub.Saying(http.StatusOK, "", c.explained)(w, r)
				return
			}
			stub.Saying(http.StatusOK, "", `{"results":[{"series":[{"name":"tsm1_cache","tags":{"database":"tsmark","retentionPolicy":"autogen"},"columns":["memBytes","diskBytes"],"values":[[`+c.cached+`,0]]}]}]}`)(w, r)
		})))
		got, ok, err := d.MeasureReads(t.Context(), driver.Request{Text: "SELECT mean(usage_user)\nFROM cpu"})
		if got != c.want || ok != c.ok || (err != nil) != c.fails {
			t.Errorf("%s cached, %s: %+v, %v, %v", c.cached, c.explained, got, ok, err)
		}
	}
}
