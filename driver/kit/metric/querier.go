package metric

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
)

// Querier is a connection that runs queries whose requests are plans. The decoder passes samples to the
// Joiner as they arrive, and the Joiner returns rows once all series are complete. It implements
// driver.Querier.
type Querier struct {
	jsonrows.Querier
	Plan   *Plan // of the current query
	Joiner Joiner
}

// Do implements driver.Querier.
func (q *Querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	return q.DoBy(ctx, r, sink, q.Send)
}

// Send sends a request, and passes the samples of its response to the Joiner.
func (q *Querier) Send(ctx context.Context, r driver.Request) (driver.Cost, error) {
	return q.Querier.Do(ctx, r, &q.Joiner)
}

// DoBy is Do for queries that may consist of several requests. The function send sends them.
func (q *Querier) DoBy(ctx context.Context, r driver.Request, sink query.Sink, send func(context.Context, driver.Request) (driver.Cost, error)) (driver.Cost, error) {
	var ok bool
	if q.Plan, ok = r.Plan.(*Plan); !ok {
		return driver.Cost{}, fmt.Errorf("querying %s: the request has no plan", q.System)
	}
	q.Joiner.Begin(q.Plan)
	cost, err := send(ctx, r)
	cost.Rows = 0
	if err == nil {
		cost.Rows, err = q.Joiner.Rows(sink)
	}
	return cost, err
}

// Console runs tsmark's own queries and requests, one after the other. The context limits their time
// or, if it has no deadline, the time-out does.
type Console struct {
	driver.Querier
	Client  *httpwire.Client
	Explain func(status int, body []byte) error // see httpwire.ResponseError
	mu      sync.Mutex
}

// Rows returns the rows of a plan.
func (c *Console) Rows(ctx context.Context, p *Plan) ([][]query.Value, error) {
	var answer query.Answer
	err := c.Run(ctx, p, limit.NewOwnSink(&answer))
	return answer.Rows, err
}

// Run passes the rows of a plan to a sink.
func (c *Console) Run(ctx context.Context, p *Plan, sink query.Sink) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := c.Client.Patient(ctx)
	defer cancel()
	_, err := c.Do(ctx, driver.Request{Plan: p}, sink)
	return err
}

// AtOnce calls do for each of n requests, over at most the given number of concurrent connections, and
// returns the first error.
func AtOnce(ctx context.Context, connections, n int, to *httpwire.Config, explain func(status int, body []byte) error, do func(ctx context.Context, c *Console, i int) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(connections, n) {
		group.Go(func() error {
			c := &Console{Client: httpwire.New(to), Explain: explain}
			defer c.Client.Close()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(ctx, c, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// maxOwn limits the bytes read from a response to a request of tsmark's own.
const maxOwn = 32 << 20

// Get returns the response to a request of tsmark's own for a path of the server.
func (c *Console) Get(ctx context.Context, method, path string, parameters url.Values) ([]byte, error) {
	return c.Send(ctx, method, path, parameters, nil)
}

// Send is Get for a request with a body.
func (c *Console) Send(ctx context.Context, method, path string, parameters url.Values, body []byte) ([]byte, error) {
	ctx, cancel := c.Client.Patient(ctx)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	request, err := c.Client.Request(ctx, method, path, parameters, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := c.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return nil, httpwire.ResponseError(response, c.Explain)
	}
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(response.Body, maxOwn))
	switch {
	case err != nil:
		return nil, c.Client.RequestError(ctx, err)
	case n == maxOwn:
		return nil, fmt.Errorf("the answer of %s has more than %d MiB, and was read no further", path, maxOwn>>20)
	}
	return out.Bytes(), nil
}
