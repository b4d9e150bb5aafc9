package influxdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
)

// explained turns a response with an unsuccessful status into a one-line error that says how to fix it.
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
	return influx.Said(e.Error)
}

// refused is explained for a write. A server that lacks the time or the memory for a batch responds
// with 500.
func refused(status int, body []byte) error {
	err := explained(status, body)
	if status == http.StatusInternalServerError && influx.Overloaded(body) {
		return &driver.Temporary{Err: err}
	}
	return err
}
