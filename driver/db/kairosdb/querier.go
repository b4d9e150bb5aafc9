package kairosdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/driver/kit/metric"
)

// newQuerier returns a querier that connects when it queries.
func newQuerier(s *settings) *metric.Querier {
	q := &metric.Querier{}
	q.Querier = jsonrows.Querier{
		Reader: jsonrows.Reader{System: "KairosDB"}, Client: httpwire.New(&s.wire), Explain: responseError,
		Request: func(ctx context.Context, _ string) (*http.Request, error) {
			r, err := q.Client.Request(ctx, http.MethodPost, pathQuery, nil, strings.NewReader(q.Plan.Expression))
			if err == nil {
				r.Header.Set("Content-Type", "application/json")
			}
			return r, err
		},
	}
	q.Answer = reader(q)
	return q
}

// reader returns the function that decodes a response: the series of each sub-query, each with its name
// and its group before its points.
func reader(q *metric.Querier) func() error {
	group := q.ObjectReader(jsonrows.Members{
		"group": func() error {
			return q.Object(func(name string) error {
				value, err := q.Text()
				q.Joiner.Label(name, value)
				return err
			})
		},
	})
	series := q.ObjectReader(jsonrows.Members{
		"name": func() error {
			name, err := q.Text()
			q.Joiner.Label("__name__", name)
			return err
		},
		"group_by": q.ArrayReader(group),
		"values": func() error {
			if err := q.Joiner.EndLabels(); err != nil {
				return err
			}
			return q.Array(q.Row)
		},
	})
	results := q.ObjectReader(jsonrows.Members{
		"results": q.ArrayReader(func() error {
			q.Joiner.Series()
			return series()
		}),
	})
	answered := false
	document := q.ObjectReader(jsonrows.Members{
		"queries": func() error {
			answered = true
			return q.Array(results)
		},
	})
	return func() error {
		answered = false
		q.Columns = append(q.Columns[:0], jsonrows.Milliseconds, jsonrows.Text)
		err := document()
		if err == nil && !answered {
			err = errors.New("the answer has no results; is this KairosDB?")
		}
		return err
	}
}

// responseError turns a response with an unsuccessful status into a one-line error that says how to fix it.
func responseError(status int, body []byte) error {
	var e struct{ Errors []string }
	if json.Unmarshal(body, &e) != nil || len(e.Errors) == 0 {
		e.Errors = []string{string(body)}
	}
	line := httpwire.OneLine(strings.Join(e.Errors, "; "))
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("it does not take these credentials; give the options %s and %s (it said: %s)", connection.User, connection.Password, line)
	case strings.Contains(line, "NaN or Infinity"):
		return fmt.Errorf("%s: a value or the aggregate is not a number", line)
	}
	return errors.New(line)
}
