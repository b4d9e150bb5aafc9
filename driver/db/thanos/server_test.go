package thanos

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/metric"
)

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	conformance.Sole(t, Driver())
	return conformance.TestServer(t, Driver(), pairs...)
}

func TestConformance(t *testing.T) { conformance.RunFewSeries(t, Driver(), server(t)) }

// The other protocol.
func TestConformanceOTLP(t *testing.T) {
	conformance.Long(t)
	conformance.RunWrites(t, Driver(), server(t, metric.OptionProtocol, metric.OTLP))
	conformance.RunClassic(t, Driver(), server(t, metric.OptionProtocol, metric.OTLP))
}

// Native histograms.
func TestNativeHistograms(t *testing.T) { conformance.RunNative(t, Driver(), server(t)) }

// Its queries are those of Prometheus.
func TestQueries(t *testing.T) {
	conformance.Queries(t, Driver(), nil, "../../prometheus/testdata/queries.promql", false)
}

func TestFaults(t *testing.T) {
	conformance.Address(t, "thanos")
	fault.Run(t, fault.Target{
		Driver: Driver(), Server: fault.Script(t, "thanos"), Patience: time.Minute,
		Ports: map[string]int{connection.Port: 0, optionWrite: 1, optionStore: 2}, HTTP: optionWrite,
		Cannot: map[string]string{
			fault.WrongPassword: "the server requires none",
			fault.WrongDatabase: "any tenant is there",
		},
	})
}
