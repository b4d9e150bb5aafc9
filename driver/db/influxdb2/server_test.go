package influxdb2

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
)

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	return conformance.TestServer(t, Driver(), append([]string{optionBucket, "tsmark_test"}, pairs...)...)
}

func TestConformance(t *testing.T) { conformance.Run(t, Driver(), server(t)) }

// InfluxQL, batches compressed, groups of shards of a day.
func TestConformanceInfluxQL(t *testing.T) {
	conformance.RunLayout(t, Driver(), server(t, optionLanguage, languageInfluxQL, lineproto.OptionGzip, "on", optionShard, "24h"))
}
