package postgres_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/db/postgres"
)

// TestFaults checks that a failure of PostgreSQL leads to one clear line, or to figures that show it.
func TestFaults(t *testing.T) {
	conformance.Address(t, "postgres") // tells how, where servers are not to be started
	fault.Run(t, fault.Target{
		Driver: postgres.Driver(), Server: fault.Script(t, "postgres"),
		Options: map[string]string{"database": "postgres", "user": "tsmark", "password": conformance.Password(t)},
		Cannot:  map[string]string{fault.Throttled: "its protocol is not HTTP"},
	})
}
