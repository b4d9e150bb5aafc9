package influxdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/query"
)

// longestAddress is the most bytes of a statement that go into a URL, which
// proxies bound. Longer ones are sent as a form.
const longestAddress = 6000

// querier is a connection that runs statements. It implements driver.Querier.
type querier struct {
	settings *settings
	client   *httpwire.Client
	decoder  *jsontext.Decoder
	answer   answer
}

func newQuerier(s *settings) *querier {
	return &querier{settings: s, client: httpwire.New(&s.wire), decoder: new(jsontext.Decoder)}
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
	response, err := q.open(ctx, method, statement)
	if err != nil {
		return driver.Cost{}, err
	}
	defer response.Body.Close()
	body := &httpwire.Counted{From: response.Body}
	rows, err := q.read(body, sink)
	cost := driver.Cost{Rows: rows, Bytes: body.N}
	if err != nil && ctx.Err() != nil {
		return cost, context.Cause(ctx)
	}
	return cost, err
}

// open runs a statement and returns its answer, of which nothing has been read.
// What changes something is sent by POST.
func (q *querier) open(ctx context.Context, method, statement string) (*http.Response, error) {
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
	if err != nil {
		return nil, err
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return q.client.Answer(request, explained)
}

// read reads an answer to its end and returns the number of its rows.
func (q *querier) read(body *httpwire.Counted, sink query.Sink) (int64, error) {
	// To look for names that come twice would take memory.
	q.decoder.Reset(body, jsontext.AllowDuplicateNames(true))
	a := &q.answer
	a.reset(q.decoder, body, sink, q.settings.chunk > 0)
	documents := 0
	for {
		err := a.document()
		if errors.Is(err, io.EOF) && documents > 0 && !a.more {
			return a.rows, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return a.rows, fmt.Errorf("the answer was cut off after %d rows: the server or the connection broke down: %w", a.rows, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return a.rows, err
		}
		documents++
	}
}
