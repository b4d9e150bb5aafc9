package influxdb

import (
	"os"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/internal/version"
)

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB, set ...string) map[string]string {
	t.Helper()
	return conformance.TestServer(t, Driver(), append([]string{connection.Database, "tsmark_test", optionServer, product()}, set...)...)
}

// product is the server that the script starts.
func product() string {
	if strings.HasPrefix(os.Getenv(version.Variable("influxdb")), geminiServer) {
		return geminiServer
	}
	return plainServer
}

func TestConformance(t *testing.T) { conformance.Run(t, Driver(), server(t)) }

// Answers in parts, batches compressed, a retention policy of its own.
func TestConformanceOtherwise(t *testing.T) {
	conformance.Long(t)
	conformance.RunVariant(t, Driver(), server(t, optionChunked, "1000", lineproto.OptionGzip, "on", optionRetention, "a policy", optionShard, "1d"))
}
