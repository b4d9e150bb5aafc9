package questdb

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/driver/jsonrows"
	"github.com/tsmark/tsmark/query"
)

// exec is a connection that runs statements over REST's /exec. It implements
// driver.Querier.
type exec struct {
	client *httpwire.Client
	reader jsonrows.Reader
}

func newExec(s *settings) *exec {
	return &exec{client: httpwire.New(s.wire()), reader: jsonrows.Reader{System: "QuestDB", Timeout: "query.timeout"}}
}

// Close implements driver.Querier.
func (e *exec) Close() error {
	e.client.Close()
	return nil
}

// Do implements driver.Querier. An answer that ends before its end, or that has
// other than the number of rows that it says, is an error.
func (e *exec) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	cost, err := e.do(ctx, r.Text, sink)
	if err != nil {
		return cost, fmt.Errorf("querying QuestDB over REST: %w", err)
	}
	return cost, nil
}

func (e *exec) do(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	request, err := e.client.Request(ctx, http.MethodGet, "/exec", url.Values{"query": {text}}, nil)
	if err != nil {
		return driver.Cost{}, err
	}
	return e.reader.Do(e.client, request, explained, sink, e.answer)
}

// answer reads an answer.
func (e *exec) answer() error {
	r, counted := &e.reader, int64(-1)
	err := r.Object(func(name string) (err error) {
		switch name {
		case "columns":
			return r.Array(e.column)
		case "dataset":
			return r.Array(r.Row)
		case "count":
			counted, err = r.Int()
			return err
		case "error":
			message, err := r.Text()
			if err == nil {
				err = explanation{Error: message}.failure()
			}
			return err
		}
		return r.Skip()
	})
	if err == nil && counted >= 0 && counted != r.Rows {
		err = fmt.Errorf("the answer has %d rows and says that it has %d", r.Rows, counted)
	}
	return err
}

// column reads the type of a column.
func (e *exec) column() error {
	kind := jsonrows.Int
	err := e.reader.Object(func(name string) error {
		if name != "type" {
			return e.reader.Skip()
		}
		name, err := e.reader.Text()
		switch name {
		case "DOUBLE":
			kind = jsonrows.Float
		case "FLOAT":
			kind = jsonrows.Float32
		case "TIMESTAMP", "TIMESTAMP_NS", "DATE":
			kind = jsonrows.Time
		}
		return err
	})
	e.reader.Columns = append(e.reader.Columns, kind)
	return err
}
