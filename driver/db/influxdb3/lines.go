package influxdb3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/query"
)

// lineQuerier is a connection that runs queries at query_sql, whose results are lines of JSON: an
// object for each row, without its NULL columns.
type lineQuerier struct{ *jsonrows.Querier }

func newLineQuerier(s *settings) *lineQuerier {
	q := &jsonrows.Querier{
		Reader:  jsonrows.Reader{System: "InfluxDB 3"},
		Client:  httpwire.New(&s.wire),
		Explain: explained,
	}
	q.Request = func(ctx context.Context, statement string) (*http.Request, error) {
		body, err := json.Marshal(map[string]string{"db": s.database, "q": statement, "format": "jsonl"})
		if err != nil {
			return nil, err
		}
		r, err := q.Client.Request(ctx, http.MethodPost, "/api/v3/query_sql", nil, bytes.NewReader(body))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
		}
		return r, err
	}
	return &lineQuerier{q}
}

// Do implements driver.Querier.
func (q *lineQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	columns, ok := r.Plan.(*lineColumns)
	if !ok {
		return driver.Cost{}, errors.New("querying InfluxDB 3: the request does not name the answer's columns")
	}
	q.Answer = func() error {
		q.Columns = append(q.Columns, columns.types...)
		return q.Lines(columns.names)
	}
	return q.Querier.Do(ctx, r, sink)
}

// lineColumns are the columns of a result: the plan of a request over HTTP.
type lineColumns struct {
	names []string
	types []jsonrows.Type
}

// lineRequest returns the request over HTTP, whose text begins with a comment that names the result's
// columns. Times are marked.
func lineRequest(text string, columns []influx.HeaderColumn) driver.Request {
	plan := &lineColumns{}
	for _, c := range columns {
		kind := jsonrows.Number
		if c.Marked {
			kind = jsonrows.Time
		}
		plan.names, plan.types = append(plan.names, c.Name), append(plan.types, kind)
	}
	return driver.Request{Text: influx.Header("-- columns ", " time", columns) + text, Plan: plan}
}
