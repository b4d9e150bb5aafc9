package victoriametrics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/driver/jsonrows"
	"github.com/tsmark/tsmark/driver/limit"
	"github.com/tsmark/tsmark/driver/metric"
	"github.com/tsmark/tsmark/query"
)

// querier is a connection that runs queries. It reads samples as they come, and
// gives rows once all series are there.
type querier struct {
	jsonrows.Querier
	settings *settings
	plan     *metric.Plan // of the query at hand
	joiner   metric.Joiner
}

func newQuerier(s *settings) *querier {
	q := &querier{settings: s}
	q.Querier = jsonrows.Querier{
		Reader: jsonrows.Reader{System: "VictoriaMetrics"}, Client: httpwire.New(&s.wire), Request: q.request, Explain: explained,
	}
	q.Answer = q.reader()
	return q
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	var err error
	if q.plan, err = metric.Parse(r.Text); err != nil {
		return driver.Cost{}, fmt.Errorf("querying VictoriaMetrics: %w", err)
	}
	q.joiner.Begin(q.plan)
	cost, err := q.Querier.Do(ctx, r, &q.joiner)
	cost.Rows = 0
	if err == nil {
		cost.Rows, err = q.joiner.Rows(sink)
	}
	return cost, err
}

// request is one of a plan's text. Answers are not taken from the server's cache,
// which rounds times.
func (q *querier) request(ctx context.Context, _ string) (*http.Request, error) {
	p, path := q.plan, "/api/v1/query"
	form := url.Values{"query": {p.Expression}, "nocache": {"1"}}
	if p.Step == 0 {
		form.Set("time", seconds(p.At))
	} else {
		path = "/api/v1/query_range"
		form.Set("start", seconds(p.Start))
		form.Set("end", seconds(p.End))
		form.Set("step", seconds(p.Step))
	}
	request, err := q.Client.Request(ctx, http.MethodPost, q.settings.selekt+path, nil, strings.NewReader(form.Encode()))
	if err == nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return request, err
}

// reader returns the function that reads an answer.
func (q *querier) reader() func() error {
	series := q.Of(jsonrows.Members{
		"metric": func() error {
			err := q.Object(func(name string) error {
				value, err := q.Text()
				q.joiner.Label(name, value)
				return err
			})
			if err != nil {
				return err
			}
			return q.joiner.Labelled()
		},
		"value":  q.Row,
		"values": q.Each(q.Row),
	})
	data := q.Of(jsonrows.Members{
		"result": q.Each(func() error {
			q.joiner.Series()
			return series()
		}),
	})
	success := false
	document := q.Of(jsonrows.Members{
		"status": func() error {
			status, err := q.Text()
			success = status == "success"
			return err
		},
		"isPartial": func() error {
			partial, err := q.True()
			if partial {
				err = errors.New("the answer lacks data of nodes that did not answer")
			}
			return err
		},
		"error": func() error {
			message, err := q.Text()
			if err == nil {
				err = explained(http.StatusOK, []byte(message))
			}
			return err
		},
		"data": data,
	})
	return func() error {
		success = false
		q.Columns = append(q.Columns[:0], jsonrows.Float, jsonrows.Text)
		err := document()
		if err == nil && !success {
			err = errors.New("the answer does not say that it is a success; is this VictoriaMetrics?")
		}
		return err
	}
}

// console runs tsmark's own queries and requests, one after the other. They take as
// long as the context says or, where that has no end, as the time-out does.
type console struct {
	querier *querier
	mu      sync.Mutex
}

// ask returns the rows that a plan gives.
func (c *console) ask(ctx context.Context, p *metric.Plan) ([][]query.Value, error) {
	var answer query.Answer
	err := c.run(ctx, p, limit.Own(&answer))
	return answer.Rows, err
}

func (c *console) run(ctx context.Context, p *metric.Plan, sink query.Sink) error {
	text, err := p.Text()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := c.querier.Client.Patient(ctx)
	defer cancel()
	_, err = c.querier.Do(ctx, driver.Request{Text: text}, sink)
	return err
}
