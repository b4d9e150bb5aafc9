package influxdb2

import (
	"maps"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
)

func TestFaults(t *testing.T) {
	conformance.Address(t, "influxdb2")
	options := maps.Clone(server(t, optionBucket, "tsmark_faults"))
	delete(options, "port")
	conformance.Faults(t, conformance.Faulty{
		Kind:     Driver(),
		Options:  options,
		Server:   conformance.Script(t, "influxdb2"),
		Password: optionToken,
		Database: optionBucket,
		Patience: 20 * time.Second,
	})
}
