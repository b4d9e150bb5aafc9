package griddb_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/griddb"
	"github.com/tsmark/tsmark/monitor/process"
)

// What goes wrong with a server ends in one clear line, or in figures that say what
// happened. The script of the variable starts a server as those in the folder servers do:
// "exec DIR PORT" is the server, with its system service at the port behind that, and
// "ready DIR PORT" succeeds once its cluster is in service.
func TestFaults(t *testing.T) {
	script := os.Getenv("TSMARK_TEST_GRIDDB_SCRIPT")
	if script == "" {
		t.Skip("TSMARK_TEST_GRIDDB_SCRIPT is not set, and no script starts such a server: see docs/drivers/griddb.md")
	}
	dir, port := t.TempDir(), conformance.FreePort(t)
	at := []string{dir, strconv.Itoa(port)}
	s := conformance.NewServer(t, port, process.Command{
		Path: script, Args: append([]string{"exec"}, at...), Log: filepath.Join(t.TempDir(), "griddb.log"), Within: 5 * time.Minute,
		Ready: func(ctx context.Context) error {
			return exec.CommandContext(ctx, script, append([]string{"ready"}, at...)...).Run()
		},
	})
	conformance.Faults(t, conformance.Faulty{
		Kind: griddb.Driver(), Server: s, Ports: map[string]int{"port": 0, "system_port": 1},
		Patience: 2 * time.Minute, // a cluster that was killed comes together again
		Cannot: map[string]string{
			conformance.Throttled:     "its protocol is not HTTP",
			conformance.WrongDatabase: "a database that is not there is made",
		},
	})
}
