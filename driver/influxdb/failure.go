package influxdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/httpwire"
)

// explained returns what an answer whose status is none of success says, in one
// line, with how to fix it.
func explained(status int, body []byte) error {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil || e.Error == "" {
		e.Error = string(body)
	}
	switch status {
	case http.StatusUnauthorized:
		return fmt.Errorf("it does not take these credentials; give the options %s and %s, or %s and %s in the environment (it said: %s)",
			connection.User, connection.Password, userVariable, passwordVariable, httpwire.OneLine(e.Error))
	case http.StatusRequestEntityTooLarge:
		return errors.New("a batch is larger than its max-body-size; lower --batch-size, or raise that")
	}
	return said(e.Error)
}

// advice is how to fix what the server says by some words of it.
var advice = []struct{ words, how string }{
	{"field type conflict", "a field was written with another type before; load into an empty database"},
	{"max-series-per-database", "raise it in the server's configuration (0: no limit), or lower --scale"},
	{"max-values-per-tag", "raise it in the server's configuration (0: no limit), or lower --scale"},
	{"database not found", "load it first, or give another database"},
	{"retention policy not found", "load it first, or give another retention_policy"},
	{"points beyond retention policy", "give a retention policy that keeps them"},
	{"retention policy", "drop it, or give another retention_policy"},
	{"not authorized", "give a user with all privileges"},
	{"requires admin privilege", "give a user with all privileges"},
	{"cache-max-memory-size", "raise it in the server's configuration, or load with fewer workers"},
	{"query-timeout", "raise it in the server's configuration"},
	{"max-select", "raise it in the server's configuration (0: no limit)"},
	{"max-concurrent-queries", "raise it in the server's configuration (0: no limit)"},
}

// said makes one line of what the server says.
func said(message string) error {
	line := httpwire.OneLine(message)
	for _, a := range advice {
		if strings.Contains(line, a.words) {
			return fmt.Errorf("%s; %s", line, a.how)
		}
	}
	return errors.New(line)
}

// refused is explained for a write. A server that has no time or no memory for a
// batch says 500.
func refused(status int, body []byte) error {
	err := explained(status, body)
	overloaded := bytes.Contains(body, []byte("cache-max-memory-size")) || bytes.Contains(body, []byte("timeout"))
	if status == http.StatusInternalServerError && overloaded {
		return &driver.Temporary{Err: err}
	}
	return err
}
