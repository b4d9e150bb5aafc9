package cortex

import (
	"flag"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/kit/metric"
)

var update = flag.Bool("update", false, "write testdata/queries.promql")

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	conformance.Sole(t, Driver())
	return conformance.TestServer(t, Driver(), pairs...)
}

func TestConformance(t *testing.T) { conformance.RunFewSeries(t, Driver(), server(t)) }

func TestProtocols(t *testing.T) {
	conformance.RunProtocols(t, Driver(), server(t), metric.OptionProtocol)
}

// Native histograms.
func TestNativeHistograms(t *testing.T) { conformance.RunNative(t, Driver(), server(t)) }

// Its queries are those of Prometheus, but for the newest rows.
func TestQueries(t *testing.T) { conformance.Queries(t, Driver(), nil, "queries.promql", *update) }

func TestFaults(t *testing.T) {
	conformance.Address(t, "cortex")
	fault.Run(t, fault.Target{
		Driver: Driver(), Server: fault.Script(t, "cortex"), Patience: time.Minute,
		Cannot: map[string]string{
			fault.WrongPassword: "the server requires none",
			fault.WrongDatabase: "any tenant is there",
		},
	})
}
