package prometheus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Objects implements driver.DB: the metrics.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	names, err := d.own.Names(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("listing the metrics of %s: %w", d.Address(), err)
	}
	var objects []driver.Object
	for _, name := range names {
		objects = append(objects, driver.Object{Kind: "metric", Name: name, Data: true, Note: name == metric.Note})
	}
	return objects, nil
}

// Plan implements driver.DB. A metric exists once it has a sample.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	return metric.Objects(schema, language{}.Metric), nil
}

// Create implements driver.DB: metrics are created by their samples.
func (d *database) Create(_ context.Context, schema *series.Schema) error {
	d.Prepare(requests(d.settings.protocol).Encoder(schema), schema)
	d.head.placed.Store(false)
	return nil
}

// Grow implements driver.DB.
func (d *database) Grow(schema *series.Schema) error {
	d.Extend(requests(d.settings.protocol).Encoder(schema), schema)
	return nil
}

// Drop implements driver.DB. The head, the server's in-memory block, keeps deleted series and hides
// samples that are written to them again, and its late samples cannot be deleted. Therefore Drop first
// writes the head to blocks, from which samples can be deleted.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	if len(objects) == 0 {
		return nil
	}
	if d.settings.quirks != nil {
		return fmt.Errorf("%s deletes no series; start it on a new folder of data", d.settings.system)
	}
	matches := url.Values{}
	for _, o := range objects {
		matches.Add("match[]", "{"+promql.Matches("__name__", []string{o.Name})+"}")
	}
	err := d.admin(ctx, "delete_series", matches)
	if err == nil {
		err = d.emptyHead(ctx)
	}
	if err == nil {
		err = d.admin(ctx, "delete_series", matches)
	}
	if err == nil {
		err = d.admin(ctx, "clean_tombstones", nil)
	}
	if err != nil {
		return fmt.Errorf("deleting metrics of %s: %w", d.Address(), err)
	}
	return nil
}

func (d *database) admin(ctx context.Context, what string, parameters url.Values) error {
	_, err := d.own.Get(ctx, http.MethodPost, d.settings.prefix+"/api/v1/admin/tsdb/"+what, parameters)
	return err
}

// Delete implements promql.NoteStore. If the server cannot delete, older notes stay; they are never
// read.
func (d *database) Delete(ctx context.Context, match string) error {
	if d.settings.quirks != nil {
		return nil
	}
	err := d.admin(ctx, "delete_series", url.Values{"match[]": {match}})
	if err != nil && strings.Contains(err.Error(), adminDisabled) {
		return nil
	}
	return err
}

// emptyHead makes the server write all samples in memory to a block. The server does so once the newest
// sample is much newer than the others, so tsmark writes a sample of its own.
func (d *database) emptyHead(ctx context.Context) error {
	newest, ok, err := d.newest(ctx)
	if err != nil || !ok {
		return err
	}
	flags, err := d.flags(ctx)
	if err != nil {
		return err
	}
	at := newest + headSpan(flags).Milliseconds() + 1
	if now := time.Now(); at > now.UnixMilli() {
		return fmt.Errorf("its newest samples are of the last hours, and it keeps them in memory, from where it deletes none: try again %v later, or start it on a new --storage.tsdb.path",
			time.UnixMilli(at).Sub(now).Round(time.Minute))
	}
	return d.moveHead(ctx, at, newest)
}

// compact is the step compact.
func (d *database) compact(ctx context.Context) error {
	err := d.emptyHead(ctx)
	if err != nil {
		return fmt.Errorf("writing the samples in the memory of Prometheus at %s to blocks: %w", d.Address(), err)
	}
	d.head.empty.Store(true)
	return nil
}

// newest returns the time of the newest sample in memory, in milliseconds since 1970,
// and whether there is one.
func (d *database) newest(ctx context.Context) (int64, bool, error) {
	all, err := d.ReadMetrics(ctx)
	if err != nil {
		return 0, false, err
	}
	at, ok := all["prometheus_tsdb_head_max_time"]
	if !ok {
		return 0, false, errors.New("it does not report its figures (/metrics)")
	}
	if at <= -math.MaxInt64 {
		return 0, false, nil
	}
	return int64(at), true, nil
}

// Note implements driver.DB: the newest complete note.
func (d *database) Note(ctx context.Context) (string, error) {
	return d.own.Note(ctx, language{})
}

// SetNote implements driver.DB.
func (d *database) SetNote(ctx context.Context, text string) error {
	return d.own.SetNote(ctx, language{}, text, d)
}

// KeepNote implements promql.NoteStore. Visible samples are in the write-ahead log already.
func (d *database) KeepNote(context.Context) error { return nil }

// noteAge is the age of the first note on a server that may have a short retention.
const noteAge = 10 * 24 * time.Hour

// WriteNote implements promql.NoteStore. The note is never newer than the existing samples, because
// later samples would count as late then.
func (d *database) WriteNote(ctx context.Context, parts []promql.NotePart) error {
	if d.settings.quirks != nil {
		return d.send(ctx, time.Now().UnixMilli(), parts)
	}
	at, ok, err := d.newest(ctx)
	switch {
	case err != nil:
		return err
	case !ok && d.settings.oldData == oldAny:
		at = time.Now().Add(-noteAge).UnixMilli()
	case !ok:
		at = metric.Earliest
	}
	return d.send(ctx, at, parts)
}

// send writes series of the note's metric.
func (d *database) send(ctx context.Context, at int64, parts []promql.NotePart) error {
	return sendTo(ctx, d.settings.writes(metric.RemoteWrite1), at, parts)
}

// sendTo is send for an endpoint of remote write 1.0.
func sendTo(ctx context.Context, e lineproto.Endpoint, at int64, parts []promql.NotePart) error {
	to, err := e.Open(ctx)
	if err != nil {
		return err
	}
	defer to.Close()
	schema, b := promql.NoteBatch(at, parts)
	note := requests(metric.RemoteWrite1)
	note.Metric = metric.Name
	_, err = to.Send(ctx, [][]byte{note.Encoder(schema).Append(nil, b)})
	return err
}

// CountRows implements driver.DB.
func (d *database) CountRows(ctx context.Context, t *series.Table) (int64, error) {
	return d.own.CountRows(ctx, language{}, t)
}

// Census implements driver.DB.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out, err := d.own.Census(ctx, language{}, t)
	if err == nil {
		err = d.times(ctx, t, &out.Times)
		out.Times = promql.Times(t, out.Times)
	}
	if err != nil {
		return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
	}
	return out, nil
}

// looks is the number of steps per range query with which times searches for the first and the last
// row.
const looks = 500

// times finds the first and the last time of a table's rows. No function returns them: range queries
// search ever shorter ranges.
func (d *database) times(ctx context.Context, t *series.Table, out *driver.Content) error {
	first, last, err := d.find(ctx, t, metric.Earliest, metric.Latest)
	if err != nil {
		return err
	}
	out.Min, out.Max = &query.Value{}, &query.Value{}
	if first == nil {
		return nil
	}
	for first.length > 1 {
		if first, _, err = d.find(ctx, t, first.from, first.from+first.length-1); err != nil {
			return err
		}
		if first == nil {
			return errMoving
		}
	}
	for last.length > 1 {
		if _, last, err = d.find(ctx, t, last.from, last.from+last.length-1); err != nil {
			return err
		}
		if last == nil {
			return errMoving
		}
	}
	at := func(ms int64) query.Value { return query.Value{Kind: query.Time, Int: ms * int64(time.Millisecond)} }
	*out.Min, *out.Max = at(first.from), at(last.from)
	return nil
}

var errMoving = errors.New("samples went while they were counted")

// found is a range that has samples.
type found struct{ from, length int64 }

// find returns the first and the last of some ranges of equal length, from a time to another, that have
// samples of the table; nil: none.
func (d *database) find(ctx context.Context, t *series.Table, from, to int64) (first, last *found, err error) {
	r := promql.Everything(language{}, t)
	length := (to - from + looks) / looks
	p := &metric.Plan{Start: from + length - 1, End: to + length - 1, Step: length, Timed: true, Order: query.Ascending,
		Fields: []metric.Field{{Name: promql.FigureName}}}
	present := r.Exists(r, promql.AnyOf(t), promql.Span{Length: length}, nil)
	if length == 1 {
		present = ""
		for i, f := range promql.AnyOf(t) {
			if i > 0 {
				present += " or "
			}
			present += fmt.Sprintf("timestamp(%s) == time()", r.Selector([]string{f}))
		}
		present = r.GroupBy("group", present)
	}
	p.Expression = language{}.SetName(present, promql.FigureName)
	rows, err := d.own.Rows(ctx, p)
	if err != nil || len(rows) == 0 {
		return nil, nil, err
	}
	at := func(row []query.Value) *found { return &found{row[0].Int/int64(time.Millisecond) - length + 1, length} }
	return at(rows[0]), at(rows[len(rows)-1]), nil
}

// ListSeries implements driver.DB.
func (d *database) ListSeries(ctx context.Context, _ *series.Schema, t *series.Table, sink query.Sink) error {
	return d.own.ListSeries(ctx, language{}, t, sink)
}
