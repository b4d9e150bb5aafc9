package postgres_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/postgres"
)

// What goes wrong with a PostgreSQL ends in one clear line, or in figures that
// say what happened.
func TestFaults(t *testing.T) {
	conformance.Address(t, "postgres") // tells how, where servers are not to be started
	conformance.Faults(t, conformance.Faulty{
		Kind: postgres.Driver(), Server: conformance.Script(t, "postgres"),
		Options: map[string]string{"database": "postgres", "user": "tsmark", "password": conformance.Password(t)},
		Cannot:  map[string]string{conformance.Throttled: "its protocol is not HTTP"},
	})
}
