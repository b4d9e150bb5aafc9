package questdb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	if d.settings.rest {
		return newExec(d.settings), nil
	}
	config, err := pgwire.NewConfig(d.settings.pg)
	if err == nil {
		var q *pgwire.Querier
		if q, err = pgwire.NewQuerier(ctx, config, pgwire.Extended); err == nil {
			return q, nil
		}
	}
	return nil, fmt.Errorf("opening a connection to QuestDB for reading: %w", err)
}

// CheckText implements driver.DB: the server explains a query of the text without running it.
func (d *database) CheckText(ctx context.Context, text string) error {
	_, err := d.own.Query(ctx, sqlkit.Parenthesize("EXPLAIN SELECT count() FROM", text))
	return err
}

// newExec returns a connection that runs statements over REST's /exec.
func newExec(s *settings) *jsonrows.Querier {
	q := &jsonrows.Querier{
		Reader:  jsonrows.Reader{System: "QuestDB", Timeout: "query.timeout"},
		Client:  httpwire.New(&s.wire),
		Explain: responseError,
	}
	q.Request = func(ctx context.Context, statement string) (*http.Request, error) {
		return q.Client.Request(ctx, http.MethodGet, "/exec", url.Values{"query": {statement}}, nil)
	}
	q.Answer = reader(&q.Reader)
	return q
}

// reader returns the function that decodes a result. A result whose number of rows differs from the
// stated one is an error.
func reader(r *jsonrows.Reader) func() error {
	counted, kind := int64(-1), jsonrows.Int
	column := r.ObjectReader(jsonrows.Members{"type": func() error {
		name, err := r.Text()
		switch name {
		case "DOUBLE":
			kind = jsonrows.Float
		case "FLOAT":
			kind = jsonrows.Float32
		case "TIMESTAMP", "TIMESTAMP_NS", "DATE":
			kind = jsonrows.Time
		}
		return err
	}})
	document := r.ObjectReader(jsonrows.Members{
		"columns": r.ArrayReader(func() error {
			kind = jsonrows.Int
			err := column()
			r.Columns = append(r.Columns, kind)
			return err
		}),
		"dataset": r.ArrayReader(r.Row),
		"count": func() (err error) {
			counted, err = r.Int()
			return err
		},
		"error": func() error {
			message, err := r.Text()
			if err == nil {
				err = errors.New(httpwire.OneLine(message))
			}
			return err
		},
	})
	return func() error {
		counted = -1
		err := document()
		if err == nil && counted >= 0 && counted != r.Rows {
			err = fmt.Errorf("the answer has %d rows and says that it has %d", r.Rows, counted)
		}
		return err
	}
}
