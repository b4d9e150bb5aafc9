package questdb

import (
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/tsmark/tsmark/target/targettest"
)

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB) map[string]string {
	t.Helper()
	address := os.Getenv("TSMARK_TEST_QUESTDB")
	if address == "" {
		const how = "no QuestDB to test against; run servers/run questdb -- go test ./target/questdb/..."
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
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

func TestConformanceREST(t *testing.T) {
	targettest.Run(t, Kind(), with(server(t), optionRead, readREST))
}

// Rows that nobody acknowledges.
func TestConformanceTCP(t *testing.T) {
	targettest.Run(t, Kind(), with(server(t), optionRead, readREST, optionProtocol, protocolTCP))
}
