package opentsdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Objects implements driver.DB: the metrics that have points, and the note. A name that
// was a metric's once stays in the server's list: it has no way to remove one.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	doing := func(err error) error { return fmt.Errorf("listing the metrics of %s: %w", d.Address(), err) }
	answer, err := d.own.Get(ctx, http.MethodGet, pathSuggest, url.Values{"type": {"metrics"}, "max": {strconv.Itoa(math.MaxInt32)}})
	var names []string
	if err == nil {
		err = json.Unmarshal(answer, &names)
	}
	if err != nil {
		return nil, doing(err)
	}
	has, err := d.having(ctx, names)
	if err != nil {
		return nil, doing(err)
	}
	var objects []driver.Object
	for i, name := range names {
		if has[i] {
			objects = append(objects, driver.Object{Kind: "metric", Name: name, Data: true})
		}
	}
	if note, err := d.annotation(ctx); err != nil {
		return nil, doing(err)
	} else if note != nil {
		objects = append(objects, driver.Object{Kind: kindNote, Name: metric.NoteTable, Data: true, Note: true})
	}
	return objects, nil
}

// lookers is the number of connections that check which metrics have points: a server keeps the names
// of all metrics it ever had, and each needs a request.
const lookers = 8

// having reports for each metric whether it has points.
func (d *database) having(ctx context.Context, names []string) ([]bool, error) {
	has := make([]bool, len(names))
	err := metric.AtOnce(ctx, lookers, len(names), &d.settings.wire, responseError, func(ctx context.Context, c *metric.Console, i int) (err error) {
		has[i], err = hasPoints(ctx, c, names[i])
		return err
	})
	return has, err
}

// hasPoints reports whether a metric has any: the server looks for the first row.
func hasPoints(ctx context.Context, c *metric.Console, name string) (bool, error) {
	body, err := json.Marshal(map[string]any{"metric": name, "limit": 1, "useMeta": false})
	if err != nil {
		return false, err
	}
	answer, err := c.Send(ctx, http.MethodPost, pathLookup, nil, body)
	var found struct{ Results []json.RawMessage }
	if err == nil {
		err = json.Unmarshal(answer, &found)
	}
	return len(found.Results) > 0, err
}

// Plan implements driver.DB. A metric exists once it has a point.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	return d.settings.layout.objects(schema), nil
}

// Create implements driver.DB: it assigns the names of metrics and of tags' keys, so that queries
// recognise names without points. Writers assign the values of tags.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	var metrics, keys []string
	for _, o := range d.settings.layout.objects(schema) {
		metrics = append(metrics, o.Name)
	}
	most, err := strconv.Atoi(d.config["tsd.storage.max_tags"])
	if err != nil {
		most = 8
	}
	for _, t := range schema.Tables {
		tags := len(t.Tags)
		if key, _ := d.settings.layout.tagOf(t.Name, ""); key != "" {
			keys = append(keys, key)
			tags++
		}
		if tags > most {
			return fmt.Errorf("series of table %s have up to %d tags, and OpenTSDB at %s takes %d: set tsd.storage.max_tags = %d in opentsdb.conf", t.Name, tags, d.Address(), most, tags)
		}
		for _, tag := range t.Tags {
			keys = append(keys, name(tag.Key))
		}
	}
	if err := d.assign(ctx, metrics, append(keys, untagged)); err != nil {
		return fmt.Errorf("assigning names in OpenTSDB at %s: %w", d.Address(), err)
	}
	return d.Join(ctx, schema)
}

// Join implements driver.DB.
func (d *database) Join(_ context.Context, schema *series.Schema) error {
	d.Prepare(d.settings.points(schema), schema)
	return nil
}

// assign makes the server assign ids to names. It responds with an unsuccessful status if it knows one
// already.
func (d *database) assign(ctx context.Context, metrics, keys []string) error {
	for kind, names := range map[string][]string{"metrics": metrics, "tagk": keys} {
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			known, err := d.knows(ctx, kind, name)
			if err != nil {
				return err
			}
			if known {
				continue
			}
			body, err := json.Marshal(map[string][]string{strings.TrimSuffix(kind, "s"): {name}})
			if err != nil {
				return err
			}
			if _, err := d.own.Send(ctx, http.MethodPost, pathAssign, nil, body); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// knows reports whether a name is assigned.
func (d *database) knows(ctx context.Context, kind, name string) (bool, error) {
	answer, err := d.own.Get(ctx, http.MethodGet, pathSuggest, url.Values{"type": {kind}, "q": {name}, "max": {"1"}})
	var names []string
	if err == nil {
		err = json.Unmarshal(answer, &names)
	}
	return slices.Contains(names, name), err // the shortest of the names with this prefix comes first
}

// How often is looked whether points are gone.
const (
	look   = 50 * time.Millisecond
	relook = time.Second
)

// Grow implements driver.DB.
func (d *database) Grow(schema *series.Schema) error {
	d.Extend(d.settings.points(schema), schema)
	return nil
}

// Drop implements driver.DB. The server answers before it has deleted, and deletes rows
// that come in the meantime: it is waited for.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	var metrics []string
	for _, o := range objects {
		if o.Kind == kindNote {
			if _, err := d.own.Get(ctx, http.MethodDelete, pathAnnotation, url.Values{"start_time": {noteTime}}); err != nil {
				return fmt.Errorf("deleting the note in %s: %w", d.Address(), err)
			}
			continue
		}
		metrics = append(metrics, o.Name)
		if err := d.empty(ctx, o.Name); err != nil {
			return fmt.Errorf("deleting the metric %s of %s: %w", o.Name, d.Address(), err)
		}
	}
	deadline := time.Now().Add(d.settings.wire.Timeout)
	return poll.Wait(ctx, look, relook, func() (bool, error) {
		has, err := d.having(ctx, metrics)
		if err != nil {
			return false, fmt.Errorf("deleting metrics of %s: %w", d.Address(), err)
		}
		left := slices.Index(has, true)
		if left >= 0 && time.Now().After(deadline) {
			return false, fmt.Errorf("deleting metrics of %s: points of %s are still there; does the server delete (tsd.http.query.allow_delete)?", d.Address(), metrics[left])
		}
		return left < 0, nil
	})
}

// empty starts the deletion of a metric's points on the server.
func (d *database) empty(ctx context.Context, name string) error {
	has, err := hasPoints(ctx, &d.own, name)
	if err != nil || !has {
		return err
	}
	r := newRequest(metric.Window{To: metric.Latest})
	r.Start, r.Delete = 1, true // a second after 1970 began
	r.Queries = []subQuery{{Metric: name, Aggregator: "zimsum", Downsample: all + "count"}}
	text, err := r.text()
	if err == nil {
		_, err = d.own.Send(ctx, http.MethodPost, pathQuery, nil, []byte(text))
	}
	return err
}

// figures are the aggregates that a census reads, in the order of Content's fields.
var figures = [...]string{"count", "sum", "min", "max"}

// CountRows implements driver.DB.
func (d *database) CountRows(ctx context.Context, t *series.Table) (int64, error) {
	return driver.CountByField(t, func(field string) (int64, error) {
		counts, err := d.figure(ctx, t, []string{field}, "count")
		if err != nil {
			return 0, err
		}
		return int64(counts[0].Float), nil
	})
}

// Census implements driver.DB.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out := driver.Census{Rows: -1, Fields: make([]driver.Content, len(t.Fields))}
	var fields []string
	for _, f := range t.Fields {
		fields = append(fields, f.Name)
	}
	for i := range figures {
		values, err := d.figure(ctx, t, fields, figures[i])
		if err != nil {
			return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
		}
		for f := range out.Fields {
			c, v := &out.Fields[f], &values[f]
			switch figures[i] {
			case "count":
				c.Count = int64(v.Float)
			case "sum":
				c.Sum = v
			case "min":
				c.Min = v
			case "max":
				c.Max = v
			}
		}
	}
	if t.EachRowHas(t.Fields[0].Name) {
		out.Rows = out.Fields[0].Count
	}
	var err error
	if out.Times.Min, out.Times.Max, err = d.times(ctx, t); err != nil {
		return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
	}
	return out, nil
}

// figure returns an aggregate of all points of each of some fields.
func (d *database) figure(ctx context.Context, t *series.Table, fields []string, function string) ([]query.Value, error) {
	r, p := newRequest(metric.Window{To: metric.Latest}), metric.Plan{}
	for _, f := range fields {
		p.Fields = append(p.Fields, metric.Field{Name: d.settings.layout.columnOf(t, f)})
	}
	r.Queries = d.settings.layout.subQueries(t, fields, mergeFunction(function), all+function)
	var err error
	if p.Expression, err = r.text(); err != nil {
		return nil, err
	}
	rows, err := d.own.Rows(ctx, &p)
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0: // there are no points
		return make([]query.Value, len(fields)), nil
	case len(rows) > 1:
		return nil, errors.New("expected one figure of each field, found others")
	}
	return rows[0], nil
}

// widths are the widths of nested buckets, in milliseconds, in which the first and the last time are
// searched for.
var widths = [...]int64{24 * hour, hour, 60_000, 1000, 1}

// times returns the first and the last time of a table's rows, NULL if the table is empty. The server
// does not report the times of points that it aggregates, only the buckets that have points.
func (d *database) times(ctx context.Context, t *series.Table) (first, last *query.Value, err error) {
	begin := metric.Window{From: firstTime, To: metric.Latest}
	end := begin
	for _, width := range widths {
		low, high, err := d.bounds(ctx, t, begin, width)
		if err == nil && end != begin {
			_, high, err = d.bounds(ctx, t, end, width)
		}
		if err != nil {
			return nil, nil, err
		}
		if low == 0 || high == 0 {
			return &query.Value{}, &query.Value{}, nil
		}
		begin, end = metric.Window{From: low, To: low + width - 1}, metric.Window{From: high, To: high + width - 1}
	}
	return &query.Value{Kind: query.Time, Int: begin.From * 1e6}, &query.Value{Kind: query.Time, Int: end.From * 1e6}, nil
}

// bounds returns the starts of the first and of the last bucket of a window that have points; 0: the
// window has no points.
func (d *database) bounds(ctx context.Context, t *series.Table, w metric.Window, width int64) (first, last int64, err error) {
	r, p := newRequest(w), metric.Plan{Timed: true}
	anyOf := metric.AnyOf(t)
	for _, f := range anyOf {
		p.Fields = append(p.Fields, metric.Field{Name: d.settings.layout.columnOf(t, f)})
	}
	r.Queries = d.settings.layout.subQueries(t, anyOf, mergeFunction("count"), downsampling(width, "count"))
	if p.Expression, err = r.text(); err != nil {
		return 0, 0, err
	}
	rows, err := d.own.Rows(ctx, &p)
	for _, row := range rows {
		at := row[0].Int / 1e6
		if first == 0 || at < first {
			first = at
		}
		last = max(last, at)
	}
	return first, last, err
}

// ListSeries implements driver.DB.
func (d *database) ListSeries(ctx context.Context, s *series.Schema, t *series.Table, sink query.Sink) error {
	r := renderer{Query: &query.Query{Table: t.Name}, table: t, schema: s, layout: d.settings.layout}
	r.columns(r.all(), nil)
	r.sub(metric.AnyOf(t), r.all(), none, all+"count")
	whole := newRequest(metric.Window{To: metric.Latest})
	whole.Queries = r.queries
	var err error
	if r.plan.Expression, err = whole.text(); err != nil {
		return err
	}
	return d.own.Run(ctx, &r.plan, sink)
}
