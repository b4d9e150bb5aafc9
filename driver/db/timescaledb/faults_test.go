package timescaledb_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/db/timescaledb"
)

// TestFaults checks that every operation on a silent server ends within its limit, also with one
// connection at a time. The other faults are tested with PostgreSQL.
func TestFaults(t *testing.T) {
	conformance.Long(t) // PostgreSQL's are CI's, of the same code
	options := server(t)
	delete(options, "host")
	delete(options, "port")
	fault.RunOnly(t, fault.Target{
		Driver: timescaledb.Driver(), Server: fault.Script(t, "timescaledb"), Options: options,
	}, fault.Silences)
}
