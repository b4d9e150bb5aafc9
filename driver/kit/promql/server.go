package promql

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/internal/option"
)

// TokenOption is the name of the option for a bearer token.
const TokenOption = "token"

// Options returns the options for connecting to a server, with a default port, and with the help texts
// of the port (empty: the usual one) and the token.
func Options(port, portHelp, tokenHelp string) []driver.Option {
	return connection.Options(
		driver.Option{Name: connection.Port, Default: port, Help: portHelp},
		driver.Option{Name: connection.User, Empty: "none"},
		driver.Option{Name: connection.Password, Empty: "none"},
		driver.Option{Name: TokenOption, Secret: true, Empty: "none", Help: tokenHelp},
	)
}

// PrefixOption returns an option for a path in front of the paths of a server.
func PrefixOption(name, help, example string) driver.Option {
	return driver.Option{Name: name, Empty: "none", Help: help, Type: option.CheckedBy("path", func(v string) error {
		if v[0] != '/' || v[len(v)-1] == '/' {
			return fmt.Errorf("must begin with a slash and end with none, as %s", example)
		}
		return nil
	})}
}

// ErrNotFound means that the server does not have the path.
var ErrNotFound = errors.New("it has no such path")

// echoed is the query as VictoriaMetrics quotes it in front of its error message.
var echoed = regexp.MustCompile(`query="(?:[^"\\]|\\.)*"`)

// ResponseError returns a function that turns a response with an unsuccessful status into a one-line error
// that says how to fix it. Like status 404, any of the words in missing mean that the path does not
// exist. Advice pairs words of a message with the remedy that is appended to it.
func ResponseError(missing []string, advice [][2]string) func(status int, body []byte) error {
	return func(status int, body []byte) error {
		var e struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(body, &e) != nil || e.Error == "" {
			e.Error = string(body)
		}
		line := httpwire.OneLine(echoed.ReplaceAllString(e.Error, "query=…"))
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
			return fmt.Errorf("it does not take these credentials; give the options %s and %s, or %s (it said: %s)", connection.User, connection.Password, TokenOption, line)
		}
		for _, a := range advice {
			if strings.Contains(line, a[0]) {
				return fmt.Errorf("%s; %s", line, a[1])
			}
		}
		if status == http.StatusNotFound || slices.ContainsFunc(missing, func(words string) bool { return strings.Contains(line, words) }) {
			return fmt.Errorf("%w: %s", ErrNotFound, line)
		}
		return errors.New(line)
	}
}
