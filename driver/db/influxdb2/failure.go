package influxdb2

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
)

// responseError turns a response with an unsuccessful status into a one-line error that says how to fix it.
func responseError(status int, body []byte) error {
	var e struct {
		Message string `json:"message"`
		Error   string `json:"error"` // in the protocol of 1.x
	}
	if json.Unmarshal(body, &e) != nil || e.Message+e.Error == "" {
		e.Message = string(body)
	}
	message := e.Message + e.Error
	switch status {
	case http.StatusUnauthorized:
		return fmt.Errorf("it does not take this token; give the option %s, or %s in the environment; a server that was never set up needs %s=on (it said: %s)",
			optionToken, tokenVariable, optionSetup, httpwire.OneLine(message))
	case http.StatusRequestEntityTooLarge:
		return errors.New("a batch is larger than the server takes; lower --batch-size")
	}
	return messageError(message)
}

// messageError turns a message of the server into a one-line error that says how to fix it.
func messageError(message string) error {
	line := httpwire.OneLine(message)
	if strings.Contains(line, "insufficient permissions") {
		return &driver.DeniedError{Err: errors.New(line), Fix: "give a token that may read and write buckets of the organisation"}
	}
	for _, a := range []struct{ words, how string }{
		{"could not find bucket", "load it first, or give another " + optionBucket},
		{"bucket not found", "load it first, or give another " + optionBucket},
		{"organization", "give the right " + optionOrg + ", and a token that may read and write in it"},
		{"points beyond retention policy", "give a longer " + optionRetention + ", or none"},
		{"points outside retention policy", "give a longer " + optionRetention + ", or none"}, // of 2.7.12
		{"cache-max-memory-size", "raise the server's storage-cache-max-memory-size, or load with fewer workers"},
	} {
		if strings.Contains(line, a.words) {
			return fmt.Errorf("%s; %s", line, a.how)
		}
	}
	return influx.MessageError(message)
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
