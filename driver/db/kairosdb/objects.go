package kairosdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Objects implements driver.DB. It lists the metrics, without the server's metrics about itself.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	names, err := d.names(ctx)
	if err != nil {
		return nil, err
	}
	var objects []driver.Object
	for _, name := range names {
		if !strings.HasPrefix(name, serverOwn) {
			objects = append(objects, driver.Object{Kind: "metric", Name: name, Data: true, Note: name == metric.Note})
		}
	}
	return objects, nil
}

// names returns the names of all metrics.
func (d *database) names(ctx context.Context) ([]string, error) {
	answer, err := d.own.Get(ctx, http.MethodGet, pathNames, nil)
	var list struct{ Results []string }
	if err == nil {
		err = json.Unmarshal(answer, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("listing the metrics of %s: %w", d.Address(), err)
	}
	return list.Results, nil
}

// Plan implements driver.DB. A metric exists once it has a point.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	return metric.Objects(schema, metric.Name), nil
}

// Create implements driver.DB: metrics come with their points.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	return d.Join(ctx, schema)
}

// Join implements driver.DB.
func (d *database) Join(_ context.Context, schema *series.Schema) error {
	d.Prepare(d.settings.points(schema), schema)
	return nil
}

// Grow implements driver.DB.
func (d *database) Grow(schema *series.Schema) error {
	d.Extend(d.settings.points(schema), schema)
	return nil
}

// deleters is how many connections delete metrics of Cassandra at once.
const deleters = 8

// Drop implements driver.DB.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	first, last, connections := int64(firstTime), int64(lastTime), 1 // H2 takes a second or more for some ten thousand points
	if d.settings.queued {
		// Only a deletion over the full range of times removes a metric from the server's list in
		// Cassandra. After any other deletion, data that is loaded later is in no list, and is never
		// found.
		first, last, connections = math.MinInt64, math.MaxInt64, deleters
	}
	return metric.AtOnce(ctx, connections, len(objects), &d.settings.wire, responseError, func(ctx context.Context, c *metric.Console, i int) error {
		name := objects[i].Name
		if err := remove(ctx, c, &request{Start: first, End: last, Metrics: []subQuery{{Name: name}}}); err != nil {
			return fmt.Errorf("deleting the metric %s of %s: %w", name, d.Address(), err)
		}
		return nil
	})
}

// The bounds of the times that points of others may have, in milliseconds since 1970:
// the years 1 and 9999.
const (
	firstTime = -62_135_596_800_000
	lastTime  = 253_402_300_799_000
)

// remove deletes the points that a request selects.
func remove(ctx context.Context, c *metric.Console, r *request) error {
	text, err := r.text()
	if err == nil {
		_, err = c.Send(ctx, http.MethodPost, pathDelete, nil, []byte(text))
	}
	return err
}

// found is the points of the series that a sub-query has found.
type found struct {
	Results []struct {
		GroupBy []struct{ Group map[string]string } `json:"group_by"`
		Values  [][]json.RawMessage
	}
}

// count returns the single point of a count over a window; 0: there are no points.
func (f *found) count() (n int64, err error) {
	switch {
	case len(f.Results) != 1 || len(f.Results[0].Values) > 1:
		return 0, errors.New("expected one figure, found others")
	case len(f.Results[0].Values) == 0:
		return 0, nil
	case len(f.Results[0].Values[0]) != 2:
		return 0, errors.New("a point is not a pair of time and value")
	}
	return n, json.Unmarshal(f.Results[0].Values[0][1], &n)
}

// find runs a request of tsmark's own with a short result.
func (d *database) find(ctx context.Context, r *request) ([]found, error) {
	text, err := r.text()
	if err != nil {
		return nil, err
	}
	answer, err := d.own.Send(ctx, http.MethodPost, pathQuery, nil, []byte(text))
	if err != nil {
		return nil, err
	}
	var out struct{ Queries []found }
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, fmt.Errorf("its answer cannot be read: %w", err)
	}
	if len(out.Queries) != len(r.Metrics) {
		return nil, fmt.Errorf("it answered %d of %d sub-queries", len(out.Queries), len(r.Metrics))
	}
	return out.Queries, nil
}

// CountRows implements driver.DB.
func (d *database) CountRows(ctx context.Context, t *series.Table) (int64, error) {
	return driver.CountByField(t, func(field string) (int64, error) {
		answers, err := d.find(ctx, &request{Start: metric.Earliest, End: metric.Latest, Metrics: []subQuery{
			{Name: metric.Name(t, field), Aggregators: []aggregator{wholeWindow("count")}, ExcludeTags: true},
		}})
		if err != nil {
			return 0, err
		}
		return answers[0].count()
	})
}

// Census implements driver.DB. It reads each value once and computes the figures here: the server would read
// the values again for each figure.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out := driver.Census{Rows: -1, Fields: make([]driver.Content, len(t.Fields))}
	var times metric.Tally // of rows, by the values that they have
	for _, field := range metric.StoredMetrics(t) {
		tally, err := d.tally(ctx, metric.Name(t, field))
		if err != nil {
			return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
		}
		if i := t.FieldIndex(field); i >= 0 {
			out.Fields[i] = tally.Content()
		}
		times.Add(tally)
	}
	if t.EachRowHas(t.Fields[0].Name) {
		out.Rows = out.Fields[0].Count
	}
	out.Times = times.Times()
	return out, nil
}

// tally reads all values of a metric.
func (d *database) tally(ctx context.Context, name string) (*metric.Tally, error) {
	text, err := (&request{Start: metric.Earliest, End: metric.Latest, Metrics: []subQuery{{Name: name, ExcludeTags: true}}}).text()
	if err != nil {
		return nil, err
	}
	q := newQuerier(d.settings)
	defer q.Close() // only used for reading
	ctx, cancel := q.Client.Patient(ctx)
	defer cancel()
	var tally metric.Tally
	_, err = q.DoBy(ctx, driver.Request{Plan: &metric.Plan{Expression: text}}, nil, func(ctx context.Context, r driver.Request) (driver.Cost, error) {
		return q.Querier.Do(ctx, r, &tally)
	})
	return &tally, err
}

// ListSeries implements driver.DB.
func (d *database) ListSeries(ctx context.Context, s *series.Schema, t *series.Table, sink query.Sink) error {
	r := renderer{Query: &query.Query{Table: t.Name}, table: t, schema: s}
	r.columns(r.all(), r.all(), nil)
	if err := r.add(metric.AnyOf(t), r.all(), wholeWindow("count")); err != nil {
		return err
	}
	r.request.Start, r.request.End = metric.Earliest, metric.Latest
	var err error
	if r.plan.Expression, err = r.request.text(); err != nil {
		return err
	}
	return d.own.Run(ctx, &r.plan, sink)
}
