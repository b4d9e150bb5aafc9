package influxdb

import (
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/connection"
)

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB, given ...string) map[string]string {
	t.Helper()
	host, port := conformance.Address(t, "influxdb")
	options := map[string]string{connection.Host: host, connection.Port: port, connection.Database: "tsmark_test"}
	for i := 0; i < len(given); i += 2 {
		options[given[i]] = given[i+1]
	}
	return options
}

func TestConformance(t *testing.T) { conformance.Run(t, Driver(), server(t)) }

// Answers in parts, batches compressed, a retention policy of its own.
func TestConformanceOtherwise(t *testing.T) {
	conformance.Run(t, Driver(), server(t, optionChunked, "1000", optionGzip, "6", optionRetention, "a policy", optionShard, "1d"))
}
