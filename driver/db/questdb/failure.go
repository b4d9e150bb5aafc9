package questdb

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
)

// responseError turns a response with an unsuccessful status into a one-line error.
func responseError(status int, body []byte) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("it does not take these credentials; give the options %s and %s, or %s", connection.User, connection.Password, optionToken)
	case http.StatusNotFound:
		return errors.New("there is no such service; is this QuestDB's HTTP port, and line.http.enabled not false?")
	}
	var said struct {
		Error    string `json:"error"` // of a statement
		Position int    `json:"position"`
		Message  string `json:"message"` // of lines
		Line     int    `json:"line"`    // its number, from 1; 0: no single line
	}
	text := string(body)
	if json.Unmarshal(body, &said) == nil {
		text = cmp.Or(said.Error, said.Message, text)
	}
	// "…errors encountered on line(s): error in line 4: what"
	if _, what, ok := strings.Cut(text, fmt.Sprintf("error in line %d: ", said.Line)); ok && said.Line > 0 {
		text, _, _ = strings.Cut(what, "\nerror in line ")
	}
	text = httpwire.OneLine(text)
	switch {
	case said.Line > 0:
		return &lineproto.BadLine{Number: said.Line, Err: errors.New(text)}
	case said.Position > 0:
		return fmt.Errorf("%s (at character %d of the statement)", text, said.Position)
	}
	return errors.New(text)
}
