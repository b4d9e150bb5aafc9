package run

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// An imported run is repeated only after a yes, and its actions are shown before.
func TestTrust(t *testing.T) {
	e := experiment.Default()
	e.Targets = []experiment.Target{{Name: "a\x1b[2J", Driver: "pg", Start: "rm -rf ~", Restart: "again", Metrics: "http://m",
		Options: experiment.Options{"path": "/etc/x", "password": "@/etc/passwd"}}}
	e.Load.File, e.Load.Replace = "/in", true
	e.Targets = append(e.Targets, experiment.Target{Name: "b", Driver: "sqlite"})
	e.Queries.Own = []ownqueries.Query{{Name: "q", Texts: ownqueries.Texts{"sql": "SELECT steal()"}, Reference: "SELECT 'in DuckDB'"}}
	drivers := catalog.New(nil, []driver.Driver{sqlite.Driver()}).Driver
	for answer, agreed := range map[string]bool{"yes\n": true, "y\n": false, "": false, "no\nyes\n": false} {
		var out strings.Builder
		var in io.Reader = strings.NewReader(answer)
		if err := (trust{in: in, out: &out, drivers: drivers}).decide("run 7", "was imported", e); (err == nil) != agreed {
			t.Errorf("%q: %v", answer, err)
		}
		for _, want := range []string{"rm -rf ~", "again", "http://m", "/etc/x", "@/etc/passwd", "/in", "replaces", "SELECT steal()", "SELECT 'in DuckDB'", "SQLite compiles it as a subquery"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q: does not show %s:\n%s", answer, want, out.String())
			}
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Error("an escape sequence reaches the terminal")
		}
	}
	if err := (trust{out: io.Discard, drivers: drivers}).decide("run 7", "was imported", e); err == nil || !strings.Contains(fmt.Sprint(err), "--yes") {
		t.Errorf("with nobody there: %v", err)
	}
}
