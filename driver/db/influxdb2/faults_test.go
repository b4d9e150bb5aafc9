package influxdb2

import (
	"maps"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
)

func TestFaults(t *testing.T) {
	conformance.Address(t, "influxdb2")
	options := maps.Clone(server(t, optionBucket, "tsmark_faults"))
	delete(options, "port")
	fault.Run(t, fault.Target{
		Driver:   Driver(),
		Options:  options,
		Server:   fault.Script(t, "influxdb2"),
		Password: optionToken,
		Database: optionBucket,
		Patience: 20 * time.Second,
	})
}
