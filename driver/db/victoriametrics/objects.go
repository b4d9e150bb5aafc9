package victoriametrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// ever are the parameters of requests about all times.
func ever(match string) url.Values {
	return url.Values{"match[]": {match}, "start": {seconds(metric.Earliest)}, "end": {seconds(metric.Latest)}, "nocache": {"1"}}
}

// Objects implements driver.DB: the metrics.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	names, err := d.names(ctx)
	var objects []driver.Object
	for _, name := range names {
		there := len(names) > manyNames
		if err == nil && !there {
			there, err = d.alive(ctx, name)
		}
		if !there {
			continue
		}
		objects = append(objects, driver.Object{Kind: "metric", Name: name, Data: true, Note: name == metric.Note})
	}
	if err != nil {
		return nil, fmt.Errorf("listing the metrics of %s: %w", d.Address(), err)
	}
	return objects, nil
}

// manyNames are more than a server of tsmark's alone has: all are taken to be there.
const manyNames = 2000

// alive reports whether a metric has series: the index keeps the names of deleted series.
func (d *database) alive(ctx context.Context, name string) (bool, error) {
	parameters := ever("{" + promql.Matches("__name__", []string{name}) + ", " + promql.UncachedMatcher() + "}")
	parameters.Set("limit", "1") // which old versions do not know
	answer, err := d.own.Get(ctx, http.MethodGet, d.settings.selekt+"/api/v1/series", parameters)
	if err != nil && strings.Contains(err.Error(), "-search.max") { // there are more than an answer may have (-search.maxSeries), which versions word differently
		return true, nil
	}
	return bytes.Contains(answer, []byte("__name__")), err
}

// names returns the names of all metrics, including some that were deleted.
func (d *database) names(ctx context.Context) ([]string, error) {
	if err := d.flush(ctx); err != nil {
		return nil, err
	}
	return d.own.Names(ctx, ever(`{__name__!=""}`))
}

// Plan implements driver.DB. A metric exists once it has a sample.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	return metric.Objects(schema, metricsQL{}.Metric), nil
}

// Create implements driver.DB: metrics come with their samples.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	return d.Join(ctx, schema)
}

// Join implements driver.DB.
func (d *database) Join(_ context.Context, schema *series.Schema) error {
	protocol := d.settings.protocolFor(schema)
	d.protocol.Store(&protocol)
	d.months.Store(monthsOf(schema))
	d.Prepare(encoder(protocol, schema), schema)
	return nil
}

// Grow implements driver.DB.
func (d *database) Grow(schema *series.Schema) error {
	d.months.Store(monthsOf(schema))
	d.Extend(encoder(*d.protocol.Load(), schema), schema)
	return nil
}

// Drop implements driver.DB.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	for _, o := range objects {
		if err := d.Delete(ctx, "{"+promql.Matches("__name__", []string{o.Name})+"}"); err != nil {
			return fmt.Errorf("deleting the metric %s of %s: %w", o.Name, d.Address(), err)
		}
	}
	return nil
}

// DeleteSeries implements driver.DB. It flushes first, since the server deletes no samples that are in its memory.
func (d *database) DeleteSeries(ctx context.Context, _ *series.Schema, t *series.Table, tag, value string) error {
	if err := d.flush(ctx); err != nil {
		return err
	}
	return d.Delete(ctx, promql.OfSeries(metricsQL{}, t, tag, value))
}

// Delete implements promql.NoteStore.
func (d *database) Delete(ctx context.Context, match string) error {
	prefix := d.settings.selekt
	if tenant, ok := strings.CutPrefix(prefix, "/select/"); ok { // a cluster deletes elsewhere
		prefix = "/delete/" + tenant
	}
	_, err := d.own.Get(ctx, http.MethodPost, prefix+"/api/v1/admin/tsdb/delete_series", url.Values{"match[]": {match}})
	return err
}

// Note implements driver.DB: the newest complete note.
func (d *database) Note(ctx context.Context) (string, error) {
	if err := d.flush(ctx); err != nil {
		return "", err
	}
	return d.own.Note(ctx, metricsQL{})
}

// SetNote implements driver.DB.
func (d *database) SetNote(ctx context.Context, text string) error {
	if err := d.flush(ctx); err != nil {
		return err
	}
	return d.own.SetNote(ctx, metricsQL{}, text, d)
}

// WriteNote implements promql.NoteStore.
func (d *database) WriteNote(ctx context.Context, parts []promql.NotePart) error {
	schema, b := promql.NoteBatch(time.Now().UnixMilli(), parts)
	return d.writeOwn(ctx, schema, b)
}

// writeOwn writes rows of tsmark's own and makes them visible.
func (d *database) writeOwn(ctx context.Context, schema *series.Schema, b *series.Batch) error {
	protocol := d.settings.protocolFor(schema)
	to, err := d.settings.writes(protocol).Open(ctx)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err = to.Send(ctx, [][]byte{encoder(protocol, schema).Append(nil, b)}); err == nil {
		err = d.flush(ctx)
	}
	return err
}

// KeepNote implements promql.NoteStore: it flushes the server's memory to disk. A server that does not
// let tsmark do so flushes it within seconds.
func (d *database) KeepNote(ctx context.Context) error {
	if d.settings.selekt != "" {
		return nil
	}
	err := d.snapshot(ctx)
	if errors.Is(err, driver.ErrUnreachable) || ctx.Err() != nil {
		return err
	}
	return nil
}

// CountRows implements driver.DB.
func (d *database) CountRows(ctx context.Context, t *series.Table) (int64, error) {
	return d.own.CountRows(ctx, metricsQL{}, t)
}

// Census implements driver.DB.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out, err := d.own.Census(ctx, metricsQL{}, t)
	if err == nil {
		out.Digits = digits
		err = d.times(ctx, t, &out.Times)
		out.Times = promql.Times(t, out.Times)
	}
	if err != nil {
		return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
	}
	return out, nil
}

// times finds the first and the last time of a table's rows.
func (d *database) times(ctx context.Context, t *series.Table, out *driver.Content) error {
	r := promql.Everything(metricsQL{}, t)
	for end, f := range map[**query.Value][2]string{
		&out.Min: {"min", "tfirst_over_time"},
		&out.Max: {"max", "tlast_over_time"},
	} {
		v, err := d.own.Figure(ctx, metricsQL{}, f[0]+"("+apply(r, f[1], promql.AnyOf(t), r.All())+")")
		if err != nil {
			return err
		}
		if v.Kind != query.Null {
			v = query.Value{Kind: query.Time, Int: int64(v.Float*1000+0.5) * int64(time.Millisecond)}
		}
		*end = &v
	}
	return nil
}

// ListSeries implements driver.DB.
func (d *database) ListSeries(ctx context.Context, _ *series.Schema, t *series.Table, sink query.Sink) error {
	return d.own.ListSeries(ctx, metricsQL{}, t, sink)
}
