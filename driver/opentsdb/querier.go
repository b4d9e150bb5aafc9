package opentsdb

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/driver/jsonrows"
	"github.com/tsmark/tsmark/driver/metric"
	"github.com/tsmark/tsmark/query"
)

// querier is a connection that runs queries, each of which is up to three requests, sent
// one after the other: the lines of its plan's expression. Plan.Step is the width of
// buckets, at whose multiples the times of points are put.
type querier struct {
	metric.Querier
	body  string // of the request at hand
	point []query.Value
}

// newQuerier returns a querier that connects when it queries.
func newQuerier(s *settings) *querier {
	q := &querier{}
	q.Querier.Querier = jsonrows.Querier{
		Reader: jsonrows.Reader{System: "OpenTSDB"}, Client: httpwire.New(&s.wire), Explain: explained,
		Request: func(ctx context.Context, _ string) (*http.Request, error) {
			r, err := q.Client.Request(ctx, http.MethodPost, pathQuery, url.Values{"arrays": {""}}, strings.NewReader(q.body))
			if err == nil {
				r.Header.Set("Content-Type", "application/json")
			}
			return r, err
		},
	}
	q.Answer = q.reader()
	return q
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	return q.DoBy(ctx, r, sink, q.ask)
}

// ask sends the requests of the plan, and gives the points of their answers to the Joiner.
func (q *querier) ask(ctx context.Context, r driver.Request) (driver.Cost, error) {
	var total driver.Cost
	for q.body = range strings.SplitSeq(q.Plan.Expression, "\n") {
		cost, err := q.Querier.Querier.Do(ctx, r, q)
		total.Bytes += cost.Bytes
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// Row implements query.Sink: it takes a point of the series at hand.
func (q *querier) Row(point []query.Value) error {
	if q.Plan.Step == 0 || len(point) == 0 {
		return q.Joiner.Row(point)
	}
	q.point = append(q.point[:0], point...)
	q.point[0].Int = metric.Floor(point[0].Int, q.Plan.Step*1e6)
	return q.Joiner.Row(q.point)
}

// reader returns the function that reads an answer: an array of series, of which each has
// its metric and its tags before its points. Tags by which the series is not grouped are
// none of the row's.
func (q *querier) reader() func() error {
	series := q.Of(jsonrows.Members{
		"metric": func() error {
			name, err := q.Text()
			q.Joiner.Label("__name__", name)
			return err
		},
		"tags": func() error {
			return q.Object(func(key string) error {
				value, err := q.Text()
				if slices.ContainsFunc(q.Plan.Tags, func(t metric.Tag) bool { return t.Label == key }) {
					q.Joiner.Label(key, text(value))
				}
				return err
			})
		},
		"dps": func() error {
			if err := q.Joiner.Labelled(); err != nil {
				return err
			}
			return q.Array(q.Querier.Querier.Row)
		},
	})
	return func() error {
		q.Columns = append(q.Columns[:0], jsonrows.Milliseconds, jsonrows.Text)
		return q.Array(func() error {
			q.Joiner.Series()
			return series()
		})
	}
}
