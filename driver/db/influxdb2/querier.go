package influxdb2

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
)

// querier is a connection that runs queries in Flux.
type querier struct {
	settings *settings
	client   *httpwire.Client
	reader   reader
}

func newQuerier(s *settings) *querier { return &querier{settings: s, client: httpwire.New(&s.wire)} }

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	columns, ok := r.Plan.([]column)
	if !ok {
		return driver.Cost{}, errors.New("querying InfluxDB 2: the request does not name the answer's columns")
	}
	cost, err := q.do(ctx, r.Text, columns, sink)
	if err != nil {
		return cost, fmt.Errorf("querying InfluxDB 2: %w", err)
	}
	return cost, nil
}

// do runs a query and passes the wanted columns of its result to the sink. An error after the end of
// the context says that the context has ended.
func (q *querier) do(ctx context.Context, text string, wanted []column, sink query.Sink) (driver.Cost, error) {
	request, err := q.request(ctx, text)
	if err != nil {
		return driver.Cost{}, err
	}
	response, err := q.client.Answer(request, responseError)
	if err != nil {
		return driver.Cost{}, err
	}
	defer response.Body.Close()
	cost, err := q.reader.read(response.Body, wanted, sink)
	if err != nil && ctx.Err() != nil {
		err = q.client.RequestError(ctx, err)
	}
	return cost, err
}

// dialect is the requested format of results.
type dialect struct {
	Annotations    []string `json:"annotations"`
	Header         bool     `json:"header"`
	Delimiter      string   `json:"delimiter"`
	DateTimeFormat string   `json:"dateTimeFormat"`
}

// request returns the HTTP request of a query.
func (q *querier) request(ctx context.Context, text string) (*http.Request, error) {
	body, err := json.Marshal(struct {
		Query   string  `json:"query"`
		Type    string  `json:"type"`
		Dialect dialect `json:"dialect"`
	}{text, languageFlux, dialect{[]string{"datatype"}, true, ",", "RFC3339Nano"}})
	if err != nil {
		return nil, err
	}
	r, err := q.client.Request(ctx, http.MethodPost, "/api/v2/query", url.Values{"org": {q.settings.org}}, bytes.NewReader(body))
	if err == nil {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/csv")
	}
	return r, err
}

// Close implements driver.Querier.
func (q *querier) Close() error {
	q.client.Close()
	return nil
}

// console runs tsmark's own queries, one after the other. The context limits their time or, if it has
// no deadline, the time-out does.
type console struct {
	querier *querier
	mu      sync.Mutex
}

// run runs a query and passes the columns of its result to the sink.
func (c *console) run(ctx context.Context, f flow, columns []column, sink query.Sink) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	patient, cancel := c.querier.client.Patient(ctx)
	defer cancel()
	_, err := c.querier.do(patient, f.String(), columns, sink)
	return err
}

// queryRows runs a query and returns its rows.
func (c *console) queryRows(ctx context.Context, f flow, columns ...string) ([][]query.Value, error) {
	var answer query.Answer
	err := c.run(ctx, f, newColumns(columns...), limit.NewOwnSink(&answer))
	return answer.Rows, err
}
