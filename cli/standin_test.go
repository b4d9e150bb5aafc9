package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// A stand-in is named when it is checked and started, before all measurements.
func TestStandInIsNamedBeforehand(t *testing.T) {
	const what = "chDB 26.9 behind tsmark's test server, not a ClickHouse server"
	known := testCatalog(tsbs.Workloads(), []driver.Driver{memory.StandIn(memory.Driver("clickhouse"), what), memory.Driver("honest")})
	var out, errs bytes.Buffer
	code := execute(t.Context(), []string{"tsmark", "check", "clickhouse", "honest"}, &out, &errs, known)
	if n := strings.Count(out.String(), what); n != 1 || code != exitDone {
		t.Errorf("tsmark check names the stand-in %d times, exit status %d:\n%s%s", n, code, &out, &errs)
	}
	a := &app{catalog: known, stdout: &out, stderr: &errs}
	for target, want := range map[string]string{"clickhouse": "clickhouse: stand-in: " + what + ": its figures are marked and not compared\n", "honest": ""} {
		errs.Reset()
		if err := a.sayWhatAnswers(t.Context(), target); err != nil || errs.String() != want {
			t.Errorf("%s was started: %q, %v; want %q", target, &errs, err, want)
		}
		if said := a.catalog.standInOf(target); (said == "stand-in: "+what) != (want != "") { // tsmark server run, and the list of servers
			t.Errorf("tsmark server run says of %s: %q", target, said)
		}
	}
}
