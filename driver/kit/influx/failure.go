package influx

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// advice pairs words of a server's message with the remedy.
var advice = []struct{ words, how string }{
	{"field type conflict", "a field was written with another type before; load into an empty database"},
	{"max-series-per-database", "raise it in the server's configuration (0: no limit), or lower --scale"},
	{"max-values-per-tag", "raise it in the server's configuration (0: no limit), or lower --scale"},
	{"database not found", "load it first, or give another database"},
	{"retention policy not found", "load it first, or give another retention_policy"},
	{"points beyond retention policy", "give a retention policy that keeps them"},
	{"points outside retention policy", "give a retention policy that keeps them"},
	{"retention policy", "drop it, or give another retention_policy"},
	{"not authorized", allPrivileges},
	{"requires admin privilege", allPrivileges},
	{"cache-max-memory-size", "raise it in the server's configuration, or load with fewer workers"},
	{"query-timeout", "raise it in the server's configuration"},
	{"max-select", "raise it in the server's configuration (0: no limit)"},
	{"max-concurrent-queries", "raise it in the server's configuration (0: no limit)"},
}

// allPrivileges is the remedy for a missing right.
const allPrivileges = "give a user with all privileges, or have an administrator run GRANT ALL PRIVILEGES TO this one"

// MessageError turns a server's message into a one-line error.
func MessageError(message string) error {
	line := httpwire.OneLine(message)
	for _, a := range advice {
		if strings.Contains(line, a.words) {
			if a.how == allPrivileges {
				return &driver.DeniedError{Err: errors.New(line), Fix: a.how}
			}
			return fmt.Errorf("%s; %s", line, a.how)
		}
	}
	return errors.New(line)
}

// Overloaded reports whether a server refused a batch for lack of time or memory.
func Overloaded(body []byte) bool {
	return bytes.Contains(body, []byte("cache-max-memory-size")) || bytes.Contains(body, []byte("timeout"))
}
