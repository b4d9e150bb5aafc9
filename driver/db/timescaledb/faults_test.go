package timescaledb_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/db/timescaledb"
)

// A server that falls silent ends whatever it is asked within its limit, with one
// connection at a time, too. The other faults are PostgreSQL's.
func TestFaults(t *testing.T) {
	conformance.Long(t) // PostgreSQL's are CI's, of the same code
	options := server(t)
	delete(options, "host")
	delete(options, "port")
	fault.RunOnly(t, fault.Target{
		Kind: timescaledb.Driver(), Server: fault.Script(t, "timescaledb"), Options: options,
	}, fault.Silences)
}
