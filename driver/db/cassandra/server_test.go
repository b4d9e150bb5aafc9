package cassandra_test

import (
	"flag"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/cassandra"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// keyspaces counts the keyspaces that tests have created.
var keyspaces atomic.Int64

// server returns options that lead to a keyspace of the test's own. Others may be given
// as names and values.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	name := fmt.Sprintf("test_%d", keyspaces.Add(1))
	return conformance.TestServer(t, cassandra.Driver(), append([]string{"database", name, "quiet", "0s"}, pairs...)...)
}

// The suite in each layout.
func TestConformance(t *testing.T) { conformance.Run(t, cassandra.Driver(), server(t)) }

// TSBS's layout.
func TestConformanceNarrow(t *testing.T) {
	conformance.RunLayout(t, cassandra.Driver(), server(t, "layout", "narrow"))
}

func TestConformanceHours(t *testing.T) {
	conformance.Long(t)
	conformance.RunVariant(t, cassandra.Driver(), server(t, "partition", "hour", "compaction", "time_window", "page_size", "100", "batch_rows", "7"))
}
