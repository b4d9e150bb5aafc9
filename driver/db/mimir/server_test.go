package mimir

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
)

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB) map[string]string {
	t.Helper()
	conformance.Sole(t, Driver())
	return conformance.TestServer(t, Driver())
}

func TestConformance(t *testing.T) { conformance.RunFewSeries(t, Driver(), server(t)) }

// Native histograms.
func TestNativeHistograms(t *testing.T) { conformance.RunNative(t, Driver(), server(t)) }

func TestFaults(t *testing.T) {
	conformance.Address(t, "mimir")
	fault.Run(t, fault.Target{
		Driver: Driver(), Server: fault.Script(t, "mimir"), Patience: time.Minute,
		Cannot: map[string]string{
			fault.WrongPassword: "the server requires none",
			fault.WrongDatabase: "any tenant is there",
		},
	})
}
