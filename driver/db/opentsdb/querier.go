package opentsdb

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
)

// querier is a connection that runs queries. A query is up to three consecutive requests, which are the
// lines of its plan's expression. Plan.Step is the width of buckets; the times of points are rounded
// down to its multiples.
type querier struct {
	metric.Querier
	body    string // of the current request
	seeking bool   // the response says for each series when it has points
	newest  []int64
	point   []query.Value
}

// newQuerier returns a querier that connects when it queries.
func newQuerier(s *settings) *querier {
	q := &querier{}
	q.Querier.Querier = jsonrows.Querier{
		Reader: jsonrows.Reader{System: "OpenTSDB"}, Client: httpwire.New(&s.wire), Explain: responseError,
		Request: func(ctx context.Context, _ string) (*http.Request, error) {
			r, err := q.Client.Request(ctx, http.MethodPost, pathQuery, url.Values{"arrays": {""}}, strings.NewReader(q.body))
			if err == nil {
				r.Header.Set("Content-Type", "application/json")
			}
			return r, err
		},
	}
	q.Answer = q.reader(s.layout)
	return q
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	return q.DoBy(ctx, r, sink, q.sendRequests)
}

// sendRequests sends the requests of the plan, and passes the points of the responses to the Joiner.
func (q *querier) sendRequests(ctx context.Context, r driver.Request) (driver.Cost, error) {
	var total driver.Cost
	i := -1
	for line := range strings.SplitSeq(q.Plan.Expression, "\n") {
		i++
		q.body, q.seeking = line, q.Plan.Newest && i == 0
		if q.Plan.Newest && i == 1 {
			if err := q.setStart(); err != nil {
				return total, err
			}
		}
		cost, err := q.Querier.Querier.Do(ctx, r, q)
		total.Bytes += cost.Bytes
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// setStart sets the start of the current request to the earliest of the series' newest hours. The
// request's text begins with its bounds, as request encodes them.
func (q *querier) setStart() error {
	text, head := strings.CutPrefix(q.body, `{"start":`)
	start, rest, comma := strings.Cut(text, ",")
	end, _, _ := strings.Cut(strings.TrimRight(strings.TrimPrefix(rest, `"end":`), "}"), ",")
	first, err := strconv.ParseInt(start, 10, 64)
	last, err1 := strconv.ParseInt(end, 10, 64)
	if !head || !comma || err != nil || err1 != nil {
		return fmt.Errorf("the request has no bounds: %.100s", q.body)
	}
	from := metric.Floor(last+1, hour)
	for _, newest := range q.newest {
		from = min(from, newest)
	}
	from = max(first, min(from, last-1)) // the server refuses a window of one millisecond
	q.body = `{"start":` + strconv.FormatInt(from, 10) + "," + rest
	return nil
}

// Row implements query.Sink: it receives a point of the current series.
func (q *querier) Row(point []query.Value) error {
	switch {
	case len(point) == 0 || !q.seeking && q.Plan.Step == 0:
		return q.Joiner.Row(point)
	case q.seeking:
		if at := point[0].Int / 1e6; q.newest[len(q.newest)-1] < at {
			q.newest[len(q.newest)-1] = at
		}
		return nil
	}
	q.point = append(q.point[:0], point...)
	q.point[0].Int = metric.Floor(point[0].Int, q.Plan.Step*1e6)
	return q.Joiner.Row(q.point)
}

// reader returns the function that decodes a response: an array of series, each with its metric and its
// tags before its points. Tags that do not group the series are ignored.
func (q *querier) reader(l layout) func() error {
	named := l == metricTable // by a tag
	series := q.ObjectReader(jsonrows.Members{
		"metric": func() error {
			name, err := q.Text()
			if !named {
				q.Joiner.Label("__name__", name)
			}
			return err
		},
		"tags": func() error {
			return q.Object(func(key string) error {
				value, err := q.Text()
				if named && key == fieldTag {
					q.Joiner.Label("__name__", value)
				}
				if slices.ContainsFunc(q.Plan.Tags, func(t metric.Tag) bool { return t.Label == key }) {
					q.Joiner.Label(key, text(value))
				}
				return err
			})
		},
		// The sub-queries of a metric are distinguished by their numbers, which are those of columns.
		"query": q.ObjectReader(jsonrows.Members{
			"index": func() error {
				n, err := q.Int()
				if n >= 0 && n < int64(len(q.Plan.Fields)) {
					q.Joiner.Label("__name__", q.Plan.Fields[n].Name)
				}
				return err
			},
		}),
		"dps": func() error {
			if q.seeking {
				q.newest = append(q.newest, 0)
			} else if err := q.Joiner.EndLabels(); err != nil {
				return err
			}
			return q.Array(q.Querier.Querier.Row)
		},
	})
	return func() error {
		q.Columns = append(q.Columns[:0], jsonrows.Milliseconds, jsonrows.Text)
		q.newest = q.newest[:0]
		return q.Array(func() error {
			q.Joiner.Series()
			return series()
		})
	}
}
