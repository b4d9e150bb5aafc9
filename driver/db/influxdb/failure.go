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

// responseError turns a response with an unsuccessful status into a one-line error that says how to fix it.
func responseError(status int, body []byte) error {
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
	return influx.MessageError(e.Error)
}

// writeError is responseError for a write. A server that lacks the time or the memory for a batch responds
// with 500.
func writeError(status int, body []byte) error {
	err := responseError(status, body)
	if status == http.StatusInternalServerError && influx.Overloaded(body) {
		return &driver.Temporary{Err: err}
	}
	return err
}
