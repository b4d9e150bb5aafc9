package influxdb3

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
)

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	return conformance.TestServer(t, Driver(), append([]string{connection.Database, "tsmark_test"}, pairs...)...)
}

func TestConformance(t *testing.T) { conformance.Run(t, Driver(), server(t)) }

// A new tag of a table is refused, by the server's own answer.
func TestGrows(t *testing.T) { conformance.Grows(t, Driver(), server(t)) }

// Batches compressed and acknowledged from memory.
func TestConformanceRelaxed(t *testing.T) {
	conformance.Long(t)
	conformance.RunWrites(t, Driver(), server(t, lineproto.OptionGzip, "on", optionNoSync, on))
}
