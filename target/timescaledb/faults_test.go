package timescaledb_test

import (
	"testing"

	"github.com/tsmark/tsmark/target/targettest"
	"github.com/tsmark/tsmark/target/timescaledb"
)

// A server that falls silent ends whatever it is asked within its limit, with one
// connection at a time, too. The other faults are PostgreSQL's.
func TestFaults(t *testing.T) {
	options := server(t)
	delete(options, "host")
	delete(options, "port")
	targettest.FaultsOnly(t, targettest.Faulty{
		Kind: timescaledb.Kind(), Server: targettest.Script(t, "timescaledb"), Options: options,
	}, targettest.Silences)
}
