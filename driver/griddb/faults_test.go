package griddb_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/griddb"
)

// What goes wrong with a server ends in one clear line, or in figures that say what
// happened. The script must have the system service at the port behind the first one.
func TestFaults(t *testing.T) {
	conformance.Faults(t, conformance.Faulty{
		Kind: griddb.Driver(), Server: conformance.Script(t, "griddb"), Ports: map[string]int{"port": 0, "system_port": 1},
		Patience: 2 * time.Minute, // a cluster that was killed comes together again
		Cannot: map[string]string{
			conformance.Throttled:     "its protocol is not HTTP",
			conformance.DiskFull:      "where its files may have 4 KiB at most the server goes on acknowledging, and has the rows in memory: nothing is missing until it ends (docs/drivers/griddb.md)",
			conformance.WrongDatabase: "a database that is not there is made",
		},
	})
}
