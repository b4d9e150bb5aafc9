package questdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/driver/lineproto"
)

// explanation is the body of an answer whose status is none of success.
type explanation struct {
	Error    string `json:"error"` // of a statement
	Position *int   `json:"position"`
	Message  string `json:"message"` // of lines
	Line     int    `json:"line"`    // which one, from 1; 0: not one of them
}

// explained returns what an answer whose status is none of success says, in one
// line.
func explained(status int, body []byte) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("it does not take these credentials; give the options %s and %s, or %s", connection.User, connection.Password, optionToken)
	case http.StatusNotFound:
		return errors.New("there is no such service; is this QuestDB's HTTP port, and line.http.enabled not false?")
	}
	var e explanation
	switch {
	case json.Unmarshal(body, &e) != nil || e.Error == "" && e.Message == "":
		return errors.New(httpwire.OneLine(string(body)))
	case e.Line > 0:
		return &lineproto.BadLine{Number: e.Line, Err: e.failure()}
	}
	return e.failure()
}

// failure is what the server said as an error.
func (e explanation) failure() error {
	if e.Error != "" {
		if e.Position != nil && *e.Position > 0 {
			return fmt.Errorf("%s (at character %d of the statement)", httpwire.OneLine(e.Error), *e.Position)
		}
		return errors.New(httpwire.OneLine(e.Error))
	}
	message := e.Message
	// "…errors encountered on line(s): error in line 4: what"
	if _, what, ok := strings.Cut(message, fmt.Sprintf("error in line %d: ", e.Line)); ok && e.Line > 0 {
		message, _, _ = strings.Cut(what, "\nerror in line ")
	}
	return errors.New(httpwire.OneLine(message))
}
