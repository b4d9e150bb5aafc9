package griddb_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/db/griddb"
)

// faulty is a server that fails. The script must have the SQL interface at the port behind
// the first one, and the system service behind that.
func faulty(t *testing.T) fault.Target {
	t.Helper()
	return fault.Target{
		Driver: griddb.Driver(), Server: fault.Script(t, "griddb"), Ports: map[string]int{"port": 0, "sql_port": 1, "system_port": 2},
		Patience: 2 * time.Minute, // a cluster that was killed comes together again
		Cannot: map[string]string{
			fault.Throttled:     "its protocol is not HTTP",
			fault.DiskFull:      "where its files may have 4 KiB at most the server goes on acknowledging, and has the rows in memory: nothing is missing until it ends (docs/drivers/griddb.md)",
			fault.WrongDatabase: "a database that is not there is made",
		},
	}
}

// TestFaults checks that a server failure leads to one clear line, or to figures that show it.
func TestFaults(t *testing.T) { fault.Run(t, faulty(t)) }

// And so it does where queries go to the SQL interface.
func TestFaultsSQL(t *testing.T) {
	f := faulty(t)
	f.Options = map[string]string{"layout": "table", "language": "sql"}
	fault.RunOnly(t, f, fault.CutQuery, fault.NeverAnswers, fault.Silences, fault.FallsSilent)
}
