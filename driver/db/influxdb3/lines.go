package influxdb3

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/query"
)

// lineQuerier is a connection that runs queries at query_sql, whose answers are lines
// of JSON: an object a row, without the columns that are NULL in it.
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
	columns, err := header().Parse(r.Text)
	if err != nil {
		return driver.Cost{}, fmt.Errorf("querying InfluxDB 3: %w", err)
	}
	names := namesOf(columns)
	q.Answer = func() error {
		for _, c := range columns {
			kind := jsonrows.Number
			if c.Marked {
				kind = jsonrows.Time
			}
			q.Columns = append(q.Columns, kind)
		}
		return q.Lines(names)
	}
	return q.Querier.Do(ctx, r, sink)
}

func namesOf(columns []influx.HeaderColumn) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}
