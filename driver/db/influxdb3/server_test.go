package influxdb3

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	return conformance.TestServer(t, Driver(), append([]string{connection.Database, "tsmark_test"}, pairs...)...)
}

func TestConformance(t *testing.T) { conformance.Run(t, Driver(), server(t)) }

// A new tag of a table is refused, by the server's own answer.
func TestGrows(t *testing.T) { conformance.Grows(t, Driver(), server(t)) }

// Answers in JSON, batches compressed and acknowledged from memory.
func TestConformanceHTTP(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, Driver(), server(t, optionRead, readHTTP, optionGzip, "6", optionNoSync, on))
}

// Answers in one call, as InfluxDB's own clients ask for them.
func TestConformanceFlight(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, Driver(), server(t, optionRead, readFlight))
}
