package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// A stand-in is named when it is checked, before all measurements.
func TestCheckNamesStandIn(t *testing.T) {
	const what = "chDB 26.9 behind tsmark's test server, not a ClickHouse server"
	known := testCatalog(tsbs.Workloads(), []driver.Driver{memory.StandIn(memory.Driver("clickhouse"), what), memory.Driver("honest")})
	var out, errs bytes.Buffer
	code := execute(t.Context(), []string{"tsmark", "check", "clickhouse", "honest"}, &out, &errs, known)
	if n := strings.Count(out.String(), what); n != 1 || code != app.ExitDone {
		t.Errorf("tsmark check names the stand-in %d times, exit status %d:\n%s%s", n, code, &out, &errs)
	}
}
