package influxdb3

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// TestFaults checks that a failure of the stand-in leads to one clear line, or to figures that show it.
// It does not show how InfluxDB 3 itself behaves.
func TestFaults(t *testing.T) {
	conformance.Long(t)
	conformance.Address(t, "influxdb3")
	options := server(t, connection.Database, "tsmark_faults", connection.Timeout, "5s")
	delete(options, connection.Port)
	delete(options, connection.Host)
	fault.Run(t, fault.Target{
		Driver:   Driver(),
		Options:  options,
		Server:   fault.Script(t, "influxdb3"),
		Password: optionToken,
		Patience: 20 * time.Second,
	})
}
