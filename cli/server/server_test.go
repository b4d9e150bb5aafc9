package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/timescaledb"
	"github.com/tsmark/tsmark/servers"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// A target has the options that its server needs: connections=one is for PGlite, not for the native
// extension, whose script says so.
func TestServerTarget(t *testing.T) {
	a := &app.App{Catalog: catalog.New(nil, []driver.Driver{timescaledb.Driver()})}
	background := servers.Background{Folder: t.TempDir()}
	data := filepath.Join(background.Folder, "timescaledb", "data")
	if err := os.MkdirAll(data, 0o755); err != nil {
		t.Fatal(err)
	}
	for written, want := range map[string]string{
		"": ",connections=one,database=postgres,", "connections=many\n": ",port=5000,database=postgres,", "connections=few\n": ",connections=few,",
	} {
		file := filepath.Join(data, "options")
		if err := os.WriteFile(file, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := serverTarget(a, background, servers.Scripts{}, "timescaledb", 5000)
		if err != nil || !strings.HasPrefix(got, "timescaledb,host=127.0.0.1,port=5000,") || !strings.Contains(got, want) {
			t.Errorf("%q: %s, %v; want %s", written, got, err, want)
		}
	}
}

// A stand-in is named when it is started, before all measurements.
func TestStandInIsNamed(t *testing.T) {
	const what = "chDB 26.9 behind tsmark's test server, not a ClickHouse server"
	known := catalog.New(tsbs.Workloads(), []driver.Driver{memory.StandIn(memory.Driver("clickhouse"), what), memory.Driver("honest")})
	var errs bytes.Buffer
	a := &app.App{Catalog: known, Stderr: &errs}
	for target, want := range map[string]string{"clickhouse": "clickhouse: stand-in: " + what + ": its figures are marked and not compared\n", "honest": ""} {
		errs.Reset()
		if err := reportStandIn(t.Context(), a, target); err != nil || errs.String() != want {
			t.Errorf("%s was started: %q, %v; want %q", target, &errs, err, want)
		}
		if said := standInOf(a.Catalog, target); (said == "stand-in: "+what) != (want != "") { // tsmark server run, and the list of servers
			t.Errorf("tsmark server run says of %s: %q", target, said)
		}
	}
}
