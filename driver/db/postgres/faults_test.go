package postgres_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/db/postgres"
)

// TestFaults checks that a failure of PostgreSQL leads to one clear line, or to figures that show it.
func TestFaults(t *testing.T) {
	target := newTarget(t)
	target.Cannot = map[string]string{fault.Throttled: "its protocol is not HTTP"}
	fault.Run(t, target)
}

// TestPowerFailure is here for all systems: CI has no time for the others.
func TestPowerFailure(t *testing.T) { fault.RunOnly(t, newTarget(t), fault.PowerFails) }

func newTarget(t *testing.T) fault.Target {
	t.Helper()
	conformance.Address(t, "postgres") // tells how, where servers are not to be started
	return fault.Target{
		Driver: postgres.Driver(), Server: fault.Script(t, "postgres"),
		Options: map[string]string{"database": "postgres", "user": "tsmark", "password": conformance.Password(t)},
	}
}
