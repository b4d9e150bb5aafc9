package questdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/httpwire"
)

// explanation is the body of an answer whose status is none of success.
type explanation struct {
	Error    string `json:"error"` // of a statement
	Position *int   `json:"position"`
	Message  string `json:"message"` // of lines
	Line     int    `json:"line"`    // which one, from 1; 0: not one of them
}

// explained reads the answer to a request that failed, and returns what it says
// in one line.
func explained(response *http.Response) (explanation, error) {
	body, err := httpwire.Explanation(response)
	if err != nil {
		return explanation{}, err
	}
	switch response.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return explanation{}, fmt.Errorf("it does not take these credentials; give the options %s and %s, or %s", connection.User, connection.Password, optionToken)
	case http.StatusNotFound:
		return explanation{}, errors.New("there is no such service; is this QuestDB's HTTP port, and line.http.enabled not false?")
	}
	var e explanation
	if json.Unmarshal(body, &e) != nil || e.Error == "" && e.Message == "" {
		return e, errors.New(httpwire.OneLine(string(body)))
	}
	return e, e.failure()
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

// lineOf returns the beginning of a line of the text, counted from 1.
func lineOf(text [][]byte, number int) string {
	const shown = 120
	var line []byte
	for _, part := range text {
		for len(part) > 0 {
			end := bytes.IndexByte(part, '\n')
			if end < 0 {
				end = len(part)
			}
			if number == 1 && len(line) <= shown {
				line = append(line, part[:end]...)
			}
			if end == len(part) {
				break
			}
			if number--; number == 0 {
				return clip(line, shown)
			}
			part = part[end+1:]
		}
	}
	return clip(line, shown)
}

func clip(line []byte, longest int) string {
	if len(line) <= longest {
		return string(line)
	}
	return strings.ToValidUTF8(string(line[:longest]), "") + "…"
}
