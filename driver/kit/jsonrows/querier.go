package jsonrows

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
)

// Querier is a connection over which statements are sent, and answered in JSON. It
// implements driver.Querier.
type Querier struct {
	Reader
	Client *httpwire.Client
	// Request makes the request of a statement.
	Request func(ctx context.Context, statement string) (*http.Request, error)
	// Explain makes an error of an answer whose status is not 200.
	Explain func(status int, body []byte) error
	// Answer reads an answer, by the methods of the Reader.
	Answer func() error
}

// Do implements driver.Querier. An answer that ends before its end is an error.
func (q *Querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	cost, err := q.do(ctx, r.Text, sink)
	if err != nil {
		return cost, fmt.Errorf("querying %s: %w", q.System, err)
	}
	return cost, nil
}

// do runs a statement. Where its context has ended, so has what failed.
func (q *Querier) do(ctx context.Context, statement string, sink query.Sink) (driver.Cost, error) {
	request, err := q.Request(ctx, statement)
	if err != nil {
		return driver.Cost{}, err
	}
	response, err := q.Client.Answer(request, q.Explain)
	if err != nil {
		return driver.Cost{}, err
	}
	defer response.Body.Close()
	cost, err := q.Read(response.Body, sink, q.Answer)
	if err != nil && ctx.Err() != nil {
		err = q.Client.RequestError(ctx, err)
	}
	return cost, err
}

// Close implements driver.Querier.
func (q *Querier) Close() error {
	q.Client.Close()
	return nil
}

// Console runs tsmark's own statements, one after the other. It takes as long as
// the context says or, where that has no end, as the time-out does.
type Console struct {
	*Querier
	mu sync.Mutex
}

// Run runs a statement and gives the rows of the answer to the sink.
func (c *Console) Run(ctx context.Context, statement string, sink query.Sink) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	patient, cancel := c.Client.Patient(ctx)
	defer cancel()
	if _, err := c.do(patient, statement, sink); err != nil {
		first, _, _ := strings.Cut(statement, "\n")
		first, _, _ = strings.Cut(first, " (")
		return fmt.Errorf("%s: %w", first, err)
	}
	return nil
}

// Query runs a statement and returns its rows.
func (c *Console) Query(ctx context.Context, statement string) ([][]query.Value, error) {
	var answer query.Answer
	err := c.Run(ctx, statement, limit.NewOwnSink(&answer))
	return answer.Rows, err
}

// Exec runs statements whose answers have nothing to say, up to the first that
// fails.
func (c *Console) Exec(ctx context.Context, statements ...string) error {
	for _, text := range statements {
		if err := c.Run(ctx, text, nil); err != nil {
			return err
		}
	}
	return nil
}
