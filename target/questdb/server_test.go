package questdb

import (
	"strconv"
	"testing"

	"github.com/tsmark/tsmark/target/targettest"
)

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB) map[string]string {
	t.Helper()
	host, port := targettest.Address(t, "questdb")
	first, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		optionHost: host, optionPort: port, optionPGPort: strconv.Itoa(first + 1), optionILPPort: strconv.Itoa(first + 2),
	}
}

// with returns options with others set.
func with(options map[string]string, given ...string) map[string]string {
	for i := 0; i < len(given); i += 2 {
		options[given[i]] = given[i+1]
	}
	return options
}

func TestConformance(t *testing.T) { targettest.Run(t, Kind(), server(t)) }

// Rows that nobody acknowledges, and the other way of reading.
func TestConformanceTCPAndREST(t *testing.T) {
	targettest.Run(t, Kind(), with(server(t), optionRead, readREST, optionProtocol, protocolTCP))
}
