package clickhouse_test

import (
	"maps"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/db/clickhouse"
)

// faulty is a server over one of its protocols.
func faulty(t *testing.T, protocol string, cannot map[string]string) fault.Target {
	conformance.Address(t, "clickhouse") // tells how, where servers are not to be started
	f := fault.Target{
		Driver: clickhouse.Driver(), Server: fault.Script(t, "clickhouse"),
		Options: map[string]string{"user": "tsmark", "password": conformance.Password(t), "protocol": protocol, "timeout": "10s"},
		Ports:   map[string]int{"port": 0, "http_port": 1},
		HTTP:    "http_port", FileLimit: 16 << 10,
		Cannot: map[string]string{},
	}
	maps.Copy(f.Cannot, cannot)
	return f
}

// TestFaults checks that a server failure leads to one clear line, or to figures that show it.
func TestFaults(t *testing.T) {
	conformance.Long(t)
	fault.Run(t, faulty(t, "native", map[string]string{fault.Throttled: "its protocol is not HTTP"}))
}

func TestFaultsHTTP(t *testing.T) {
	conformance.Long(t)
	fault.Run(t, faulty(t, "http", nil))
}
