package postgres_test

import (
	"testing"

	"github.com/tsmark/tsmark/target/postgres"
	"github.com/tsmark/tsmark/target/targettest"
)

// What goes wrong with a PostgreSQL ends in one clear line, or in figures that
// say what happened.
func TestFaults(t *testing.T) {
	targettest.Address(t, "postgres") // tells how, where servers are not to be started
	targettest.Faults(t, targettest.Faulty{
		Kind: postgres.Kind(), Server: targettest.Script(t, "postgres"),
		Options: map[string]string{"database": "postgres", "user": "tsmark", "password": targettest.Password(t)},
		Cannot:  map[string]string{targettest.Throttled: "its protocol is not HTTP"},
	})
}
