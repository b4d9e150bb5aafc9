// Package promql is shared by the drivers of systems that are queried in a dialect of PromQL over
// Prometheus's HTTP API. It renders queries as expressions, and turns samples into rows.
package promql

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
)

// API is Prometheus's HTTP API as one system implements it.
type API struct {
	System  string // in errors
	Wire    *httpwire.Config
	Prefix  string                  // path before /api/v1
	Seconds func(ms int64) string   // formats milliseconds for parameters
	Explain func(int, []byte) error // see httpwire.ResponseError
	// Hidden is a label that the server adds to conditions, and so to answers of absent; empty: none.
	Hidden string
	// Form returns the parameters of a query, except its times. Its error says that the server cannot
	// run it.
	Form func(*metric.Plan) (url.Values, error)
}

// Querier is a connection that runs queries. It decodes samples as they arrive, and returns rows once
// all series are complete. It implements driver.Querier.
type Querier struct {
	metric.Querier
	api     *API
	counted bool // each sample of the result counts as a row
	exact   bool // each sample is a row
	samples samples
}

// NewQuerier returns a querier that connects on first use.
func NewQuerier(a *API) *Querier {
	q := &Querier{api: a}
	q.Querier.Querier = jsonrows.Querier{
		Reader: jsonrows.Reader{System: a.System}, Client: httpwire.New(a.Wire), Request: q.request, Explain: a.Explain,
	}
	q.Answer = q.reader()
	return q
}

// Do implements driver.Querier. A text that is not a plan but a path with parameters, such as TSBS's
// query texts, is sent by GET unchanged; each sample of the result is a row.
func (q *Querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	p, _ := r.Plan.(*metric.Plan)
	q.exact = p != nil && p.Samples
	switch q.counted = p == nil && isPath(r.Text) || q.exact && sink == nil; {
	case q.counted:
		q.Plan = p
		return q.Querier.Querier.Do(ctx, r, sink)
	case q.exact:
		q.Plan = p
		q.samples.begin(p, sink)
		return q.Querier.Querier.Do(ctx, r, &q.samples)
	}
	return q.DoBy(ctx, r, sink, func(ctx context.Context, r driver.Request) (driver.Cost, error) {
		if q.Plan.Newest {
			return q.newest(ctx, r)
		}
		return q.Send(ctx, r)
	})
}

// maxSteps is the number of steps of a range query that are evaluated at once if it can be split:
// servers return 11,000 points of a series, or more.
const maxSteps = 10_000

// newest evaluates the last steps of a range query, and earlier ones until there are enough rows.
func (q *Querier) newest(ctx context.Context, r driver.Request) (driver.Cost, error) {
	whole := q.Plan
	defer func() { q.Plan = whole }()
	var total driver.Cost
	for end, steps := whole.End, int64(whole.Limit); ; steps = maxSteps {
		part := *whole
		part.Start, part.End = max(whole.Start, end-(min(steps, maxSteps)-1)*whole.Step), end
		if part.Start == end { // for a single step some servers look at another time
			part.At, part.Step = end, 0
		}
		q.Plan = &part
		cost, err := q.Send(ctx, r)
		total.Bytes += cost.Bytes
		if end = part.Start - whole.Step; err != nil || end < whole.Start || q.Joiner.Count() >= int64(whole.Limit) {
			return total, err
		}
	}
}

// isPath reports whether the text of a request is a path; the text of a plan never begins like one.
func isPath(text string) bool { return strings.HasPrefix(text, "/") }

// request returns the HTTP request for the current plan, or for a path.
func (q *Querier) request(ctx context.Context, text string) (*http.Request, error) {
	if isPath(text) {
		path, parameters, _ := strings.Cut(text, "?")
		values, err := url.ParseQuery(parameters)
		if err != nil {
			return nil, fmt.Errorf("the parameters of the request: %w", err)
		}
		return q.Client.Request(ctx, http.MethodGet, q.api.Prefix+path, values, nil)
	}
	path, form, err := q.api.request(q.Plan)
	if err != nil {
		return nil, err
	}
	request, err := q.Client.Request(ctx, http.MethodPost, path, nil, strings.NewReader(form.Encode()))
	if err == nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return request, err
}

// request returns the path and the parameters of a plan's request.
func (a *API) request(p *metric.Plan) (path string, form url.Values, err error) {
	form, err = a.Form(p)
	switch {
	case err != nil:
		return "", nil, err
	case p.Step == 0:
		form.Set("time", a.Seconds(p.At))
		return a.Prefix + "/api/v1/query", form, nil
	}
	form.Set("start", a.Seconds(p.Start))
	form.Set("end", a.Seconds(p.End))
	form.Set("step", a.Seconds(p.Step))
	return a.Prefix + "/api/v1/query_range", form, nil
}

// reader returns the function that decodes a result.
func (q *Querier) reader() func() error {
	series := q.ObjectReader(jsonrows.Members{
		"metric": func() error {
			if q.counted {
				return q.Skip()
			}
			err := q.Object(func(name string) error {
				value, err := q.Text()
				switch {
				case name == q.api.Hidden:
				case q.exact:
					q.samples.label(name, value)
				default:
					q.Joiner.Label(name, value)
				}
				return err
			})
			if err != nil {
				return err
			}
			return q.endLabels()
		},
		"value":      q.Row,
		"values":     q.ArrayReader(q.Row),
		"histogram":  q.histogram,
		"histograms": q.ArrayReader(q.histogram),
	})
	kind := ""
	data := q.ObjectReader(jsonrows.Members{
		"resultType": func() (err error) {
			kind, err = q.Text()
			return err
		},
		"result": func() error {
			if kind == "scalar" && q.exact && !q.counted {
				q.samples.series()
				q.samples.endLabels()
			}
			if kind == "scalar" && q.exact {
				return q.Row()
			}
			return q.Array(func() error {
				switch {
				case q.counted:
				case q.exact:
					q.samples.series()
				default:
					q.Joiner.Series()
				}
				return series()
			})
		},
	})
	success := false
	document := q.ObjectReader(jsonrows.Members{
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
				err = q.api.Explain(http.StatusOK, []byte(message))
			}
			return err
		},
		"data": data,
	})
	return func() error {
		success, kind = false, ""
		q.Columns = append(q.Columns[:0], jsonrows.Float, jsonrows.Text)
		err := document()
		if err == nil && !success {
			err = fmt.Errorf("the answer does not say that it is a success; is this %s?", q.System)
		}
		return err
	}
}

// endLabels ends the labels of a series.
func (q *Querier) endLabels() error {
	if q.exact {
		q.samples.endLabels()
		return nil
	}
	return q.Joiner.EndLabels()
}

// Console runs tsmark's own queries and requests, one after the other.
type Console struct {
	metric.Console
	api *API
}

// NewConsole returns a console that runs its queries on a querier.
func NewConsole(q *Querier) *Console {
	return &Console{metric.Console{Querier: q, Client: q.Client, Explain: q.api.Explain}, q.api}
}
