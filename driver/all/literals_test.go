package all

import (
	"testing"
	"time"
)

// TestLiterals checks the literals of each driver that runs users' query texts: a text, a time between
// two microseconds, and a regular expression if its literal differs from a text's.
func TestLiterals(t *testing.T) {
	at := time.Date(2016, time.January, 1, 12, 0, 0, 1500, time.UTC)
	want := map[string][4]string{
		"clickhouse":  {"sql", `'o\'b\\'`, "toDateTime64('2016-01-01 12:00:00.0000015', 9, 'UTC')", ""},
		"duckdb":      {"sql", `'o''b\'`, "TIMESTAMP '2016-01-01 12:00:00.000002'", ""},
		"influxdb":    {"influxql", `'o\'b\\'`, "'2016-01-01T12:00:00.0000015Z'", `/^a\/b$/`},
		"influxdb3":   {"sql", `'o''b\'`, "TIMESTAMP '2016-01-01T12:00:00.0000015Z'", ""},
		"mysql":       {"sql", `'o\'b\\'`, "TIMESTAMP'2016-01-01 12:00:00.000002'", ""},
		"postgres":    {"sql", `'o''b\'`, "TIMESTAMPTZ '2016-01-01 12:00:00.000002+00'", ""},
		"questdb":     {"sql", `'o''b\'`, "'2016-01-01T12:00:00.000002Z'", ""},
		"sqlite":      {"sql", `'o''b\'`, "1451649600000001500", ""},
		"timescaledb": {"sql", `'o''b\'`, "TIMESTAMPTZ '2016-01-01 12:00:00.000002+00'", ""},
	}
	for _, d := range Drivers() {
		options, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		l := d.LiteralsOf(options)
		expected, takes := want[d.Name]
		if takes != (l != nil) {
			t.Errorf("%s: takes texts: %t", d.Name, l != nil)
		}
		if l == nil {
			continue
		}
		text, err := l.Text(`o'b\`)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		start, err := l.Time(at)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		got := [4]string{l.Language, text, start, ""}
		if l.Regexp != nil {
			if got[3], err = l.Regexp("^a/b$"); err != nil {
				t.Errorf("%s: %v", d.Name, err)
			}
		}
		if got != expected {
			t.Errorf("%s: %q, want %q", d.Name, got, expected)
		}
	}
}
