package opentsdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// summary is the server's response to a batch.
type summary struct {
	Success int64
	Failed  int64
	Errors  []struct{ Error string }
}

// err is an error that says how many points are lost, and why the first one is; nil: none.
func (s *summary) err() error {
	if s.Failed == 0 && len(s.Errors) == 0 {
		return nil
	}
	why := "the server does not say why"
	if len(s.Errors) > 0 {
		why = httpwire.OneLine(s.Errors[0].Error)
	}
	if strings.HasPrefix(why, "Too many tags") {
		why += "; set tsd.storage.max_tags in opentsdb.conf to the number of tags of the dataset's series"
	}
	return fmt.Errorf("%d of the batch's points were not stored: %s", s.Failed, why)
}

// storedError implements lineproto.Endpoint.Stored. The server lists the points that HBase did not store in
// a response with the status 200. They may be sent again.
func storedError(_ [][]byte, _ http.Header, body []byte) error {
	var s summary
	if err := json.Unmarshal(body, &s); err != nil || s.Success+s.Failed == 0 {
		return fmt.Errorf("the answer to a batch does not say how many points were stored: %q; is this OpenTSDB?", httpwire.OneLine(string(body)))
	}
	if err := s.err(); err != nil {
		return &driver.Temporary{Err: err}
	}
	return nil
}

// responseError turns a response with an unsuccessful status into a one-line error that says how to fix it.
func responseError(status int, body []byte) error {
	var s summary
	if json.Unmarshal(body, &s) == nil {
		if err := s.err(); err != nil {
			return err
		}
	}
	var e struct{ Error struct{ Message string } }
	line := httpwire.OneLine(string(body))
	if json.Unmarshal(body, &e) == nil && e.Error.Message != "" {
		line = httpwire.OneLine(e.Error.Message)
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("it does not take these credentials; give the options %s and %s (it said: %s)", connection.User, connection.Password, line)
	case strings.HasPrefix(line, "Chunked request not supported"):
		line += "; set tsd.http.request.enable_chunked = true in opentsdb.conf"
	case strings.HasPrefix(line, "No such name for 'tagv'"):
		line += "; set tsd.query.skip_unresolved_tagvs = true in opentsdb.conf"
	}
	return errors.New(line)
}
