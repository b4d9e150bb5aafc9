package influxdb

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/driver/jsonrows"
	"github.com/tsmark/tsmark/query"
)

// longestAddress is the most bytes of a statement that go into a URL, which
// proxies bound. Longer ones are sent as a form.
const longestAddress = 6000

// querier is a connection that runs statements. It implements driver.Querier.
type querier struct {
	settings *settings
	client   *httpwire.Client
	answer   answer
}

func newQuerier(s *settings) *querier {
	return &querier{settings: s, client: httpwire.New(&s.wire), answer: answer{
		// InfluxDB has no empty tags: where it writes one, the tag is missing.
		Reader: jsonrows.Reader{System: "InfluxDB", EmptyIsNull: true}, chunked: s.chunk > 0,
	}}
}

// Close implements driver.Querier.
func (q *querier) Close() error {
	q.client.Close()
	return nil
}

// Do implements driver.Querier. An answer that ends before its end is an error.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	cost, err := q.do(ctx, http.MethodGet, r.Text, sink)
	if err != nil {
		return cost, fmt.Errorf("asking InfluxDB: %w", err)
	}
	return cost, nil
}

// do runs a statement and reads its answer.
func (q *querier) do(ctx context.Context, method, statement string, sink query.Sink) (driver.Cost, error) {
	request, err := q.request(ctx, method, statement)
	if err != nil {
		return driver.Cost{}, err
	}
	return q.answer.Do(q.client, request, explained, sink, q.answer.read)
}

// request is one of a statement. What changes something is sent by POST.
func (q *querier) request(ctx context.Context, method, statement string) (*http.Request, error) {
	s := q.settings
	parameters := url.Values{"db": {s.database}, "epoch": {"ns"}}
	if s.chunk > 0 {
		parameters["chunked"], parameters["chunk_size"] = []string{"true"}, []string{strconv.Itoa(s.chunk)}
	}
	if s.retention != "" {
		parameters["rp"] = []string{s.retention}
	}
	var form io.Reader
	if method == http.MethodPost || len(statement) > longestAddress {
		method, form = http.MethodPost, strings.NewReader(url.Values{"q": {statement}}.Encode())
	} else {
		parameters["q"] = []string{statement}
	}
	request, err := q.client.Request(ctx, method, "/query", parameters, form)
	if err == nil && form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return request, err
}
