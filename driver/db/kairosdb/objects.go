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

// figure returns the single point of an aggregate over a window, and its time; NULL: there are no
// points.
func (f *found) figure() (at int64, v query.Value, err error) {
	switch {
	case len(f.Results) != 1 || len(f.Results[0].Values) > 1:
		return 0, v, errors.New("expected one figure, found others")
	case len(f.Results[0].Values) == 0:
		return 0, v, nil
	case len(f.Results[0].Values[0]) != 2:
		return 0, v, errors.New("a point is not a pair of time and value")
	}
	point := f.Results[0].Values[0]
	v.Kind = query.Float
	err = errors.Join(json.Unmarshal(point[0], &at), json.Unmarshal(point[1], &v.Float))
	return at, v, err
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
			{Name: metric.Name(t.Name, field), Aggregators: []aggregator{wholeWindow("count")}, ExcludeTags: true},
		}})
		if err != nil {
			return 0, err
		}
		_, count, err := answers[0].figure()
		return int64(count.Float), err
	})
}

// Census implements driver.DB.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out := driver.Census{Rows: -1, Fields: make([]driver.Content, len(t.Fields))}
	r := request{Start: metric.Earliest, End: metric.Latest}
	add := func(field string, a aggregator) {
		r.Metrics = append(r.Metrics, subQuery{Name: metric.Name(t.Name, field), Aggregators: []aggregator{a}, ExcludeTags: true})
	}
	for _, f := range t.Fields {
		for _, a := range []string{"count", "sum", "min", "max"} {
			add(f.Name, wholeWindow(a))
		}
	}
	anyOf := metric.AnyOf(t)
	for _, f := range anyOf {
		add(f, chosen("first"))
		add(f, chosen("last"))
	}
	answers, err := d.find(ctx, &r)
	if err == nil {
		err = read(answers, t, anyOf, &out)
	}
	if err != nil {
		return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
	}
	return out, nil
}

// read decodes the results of a census.
func read(answers []found, t *series.Table, anyOf []string, out *driver.Census) error {
	next := func() (int64, query.Value, error) {
		f := answers[0]
		answers = answers[1:]
		return f.figure()
	}
	for i := range out.Fields {
		c := &out.Fields[i]
		var figures [4]query.Value
		for n := range figures {
			var err error
			if _, figures[n], err = next(); err != nil {
				return err
			}
		}
		c.Count, c.Sum, c.Min, c.Max = int64(figures[0].Float), &figures[1], &figures[2], &figures[3]
	}
	if t.EachRowHas(t.Fields[0].Name) {
		out.Rows = out.Fields[0].Count
	}
	out.Times.Min, out.Times.Max = &query.Value{}, &query.Value{}
	for range anyOf {
		first, v, err := next()
		last, _, err1 := next()
		if err := errors.Join(err, err1); err != nil {
			return err
		}
		if v.Kind == query.Null {
			continue
		}
		if low := out.Times.Min; low.Kind == query.Null || first*1e6 < low.Int {
			*low = query.Value{Kind: query.Time, Int: first * 1e6}
		}
		if high := out.Times.Max; high.Kind == query.Null || last*1e6 > high.Int {
			*high = query.Value{Kind: query.Time, Int: last * 1e6}
		}
	}
	return nil
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
