package opentsdb

import (
	"flag"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
)

var update = flag.Bool("update", false, "write the golden files")

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	conformance.Sole(t, Driver())
	return conformance.TestServer(t, Driver(), pairs...)
}

func TestConformance(t *testing.T) { conformance.RunSparse(t, Driver(), server(t)) }

// Batches that are acknowledged once they are read.
func TestConformanceWithoutSync(t *testing.T) {
	conformance.Long(t)
	conformance.RunWrites(t, Driver(), server(t, optionSync, syncOff))
}

// Metrics named after tables, as IoTDB-Benchmark's, and after fields.
func TestConformanceOfMetrics(t *testing.T) {
	conformance.Long(t)
	for _, named := range []string{metricTable, metricField} {
		t.Run(named, func(t *testing.T) { conformance.RunWrites(t, Driver(), server(t, optionMetric, named)) })
	}
}

func TestQueries(t *testing.T) { conformance.Queries(t, Driver(), nil, "queries.json", *update) }

func TestQueriesOfMetrics(t *testing.T) {
	conformance.Queries(t, Driver(), map[string]string{optionMetric: metricTable}, "queries-table.json", *update)
	conformance.Queries(t, Driver(), map[string]string{optionMetric: metricField}, "queries-field.json", *update)
}

func TestFaults(t *testing.T) {
	conformance.Long(t) // each part starts two servers of Java's

	conformance.Address(t, "opentsdb")
	fault.Run(t, fault.Target{
		Driver:   Driver(),
		Server:   fault.Script(t, "opentsdb"),
		Patience: 4 * time.Minute, // Java starts, twice
		Sparse:   true,
		Cannot: map[string]string{
			fault.WrongPassword: "the server requires none",
			fault.WrongDatabase: "it has none",
			fault.PowerFails:    "a process of HBase outlives the kill, and keeps the disk busy",
			fault.DiskFull: "HBase in its standalone mode acknowledges points that its log could not take (EFBIG), and has them in memory: " +
				"nothing is missing until it is killed (docs/drivers/opentsdb.md)",
		},
	})
}
