package mysql_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/mysql"
)

// What goes wrong with a server ends in one clear line, or in figures that say what
// happened.
func TestFaults(t *testing.T) {
	conformance.Address(t, "mysql") // tells how, where servers are not to be started
	conformance.Faults(t, conformance.Faulty{
		Kind: mysql.Driver(), Server: conformance.Script(t, "mysql"),
		Options: map[string]string{"user": "tsmark", "password": conformance.Password(t)},
		Cannot:  map[string]string{conformance.Throttled: "its protocol is not HTTP"},
	})
}
