package kairosdb

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
)

var update = flag.Bool("update", false, "write the golden files")

// server returns the options that lead to the server that tests may fill, and that say
// where it keeps its points.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	if store := os.Getenv("TSMARK_KAIROSDB"); store != "" {
		pairs = append(pairs, optionDatastore, store)
	}
	conformance.Sole(t, Driver())
	return conformance.TestServer(t, Driver(), pairs...)
}

// Its H2 commits each point: a few thousand a second.
func TestConformance(t *testing.T) { conformance.RunSparse(t, Driver(), server(t)) }

func TestQueries(t *testing.T) { conformance.Queries(t, Driver(), nil, "queries.json", *update) }

func TestFaults(t *testing.T) {
	conformance.Long(t) // each part starts a server of Java's

	conformance.Address(t, "kairosdb")
	fault.Run(t, fault.Target{
		Driver:   Driver(),
		Server:   fault.Script(t, "kairosdb"),
		Patience: 2 * time.Minute, // Java starts
		Sparse:   true,
		Cannot: map[string]string{
			fault.WrongPassword: "the server requires none",
			fault.WrongDatabase: "it has none",
		},
	})
}
