package victoriametrics

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// note is the metric whose labels are the note: a part in each series.
const note = metric.NoteTable + "_text"

// ever are the parameters of requests about all times.
func ever(match string) url.Values {
	return url.Values{"match[]": {match}, "start": {seconds(earliest)}, "end": {seconds(latest)}, "nocache": {"1"}}
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
		objects = append(objects, driver.Object{Kind: "metric", Name: name, Data: true, Note: name == note})
	}
	if err != nil {
		return nil, fmt.Errorf("listing the metrics of %s: %w", d.Address(), err)
	}
	return objects, nil
}

// manyNames are more than a server of tsmark's alone has: all are taken to be there.
const manyNames = 2000

// alive reports whether a metric has series: the index keeps the names of those that
// were deleted.
func (d *database) alive(ctx context.Context, name string) (bool, error) {
	parameters := ever("{" + matches("__name__", []string{name}) + "}")
	parameters.Set("limit", "1") // which old versions do not know
	answer, err := d.own.get(ctx, http.MethodGet, d.settings.selekt+"/api/v1/series", parameters)
	if err != nil && strings.Contains(err.Error(), "-search.maxSeries") { // there are too many for an answer
		return true, nil
	}
	return bytes.Contains(answer, []byte("__name__")), err
}

// names are those of all metrics, and of some that were deleted.
func (d *database) names(ctx context.Context) ([]string, error) {
	if err := d.flush(ctx); err != nil {
		return nil, err
	}
	answer, err := d.own.get(ctx, http.MethodGet, d.settings.selekt+"/api/v1/label/__name__/values", ever(`{__name__!=""}`))
	if err != nil {
		return nil, err
	}
	var list struct {
		Status string
		Data   []string
	}
	if err := json.Unmarshal(answer, &list); err != nil || list.Status != "success" {
		return nil, fmt.Errorf("its list of metrics cannot be read: %.100q", answer)
	}
	return list.Data, nil
}

// Plan implements driver.DB. A metric is there once a sample of it is.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	var objects []driver.Object
	for _, t := range schema.Tables {
		for _, f := range append(slices.Clone(t.Fields), series.Field{Name: metric.NullField}) {
			objects = append(objects, driver.Object{Kind: "metric", Name: metric.Name(t.Name, f.Name)})
		}
	}
	return objects, nil
}

// Create implements driver.DB: metrics come with their samples.
func (d *database) Create(_ context.Context, schema *series.Schema) error {
	d.Prepare(lines().New(schema), schema)
	return nil
}

// Drop implements driver.DB.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	for _, o := range objects {
		if err := d.delete(ctx, "{"+matches("__name__", []string{o.Name})+"}"); err != nil {
			return fmt.Errorf("deleting the metric %s of %s: %w", o.Name, d.Address(), err)
		}
	}
	return nil
}

func (d *database) delete(ctx context.Context, match string) error {
	_, err := d.own.get(ctx, http.MethodPost, d.settings.selekt+"/api/v1/admin/tsdb/delete_series", url.Values{"match[]": {match}})
	return err
}

// partLength is how many bytes of a note a label takes: servers keep 1 KiB or more.
const partLength = 900

// version is a note as it was set once: its parts, and how many there are.
type version struct {
	parts map[int]string
	all   int
}

// Note implements driver.DB: the newest one that is whole.
func (d *database) Note(ctx context.Context) (string, error) {
	versions, newest, err := d.versions(ctx)
	if err != nil || newest == 0 {
		return "", err
	}
	var text strings.Builder
	for i := range versions[newest].all {
		text.WriteString(versions[newest].parts[i])
	}
	plain, err := base64.RawURLEncoding.DecodeString(text.String())
	return string(plain), err
}

// versions are the notes that the server has, and which of those that are whole is
// the newest; 0: none is.
func (d *database) versions(ctx context.Context) (map[int64]*version, int64, error) {
	if err := d.flush(ctx); err != nil {
		return nil, 0, err
	}
	answer, err := d.own.get(ctx, http.MethodGet, d.settings.selekt+"/api/v1/export", ever(note))
	if err != nil {
		return nil, 0, err
	}
	versions, newest := map[int64]*version{}, int64(0)
	for line := range bytes.Lines(answer) {
		var part struct {
			Metric struct{ Version, Part, Content string }
			Values []float64
		}
		err := json.Unmarshal(line, &part)
		at, err1 := strconv.ParseInt(part.Metric.Version, 10, 64)
		number, err2 := strconv.Atoi(part.Metric.Part)
		if err := errors.Join(err, err1, err2); err != nil || len(part.Values) == 0 {
			return nil, 0, fmt.Errorf("the metric %s is not as tsmark leaves it", note)
		}
		if versions[at] == nil {
			versions[at] = &version{parts: map[int]string{}, all: int(part.Values[0])}
		}
		versions[at].parts[number] = part.Metric.Content
		if len(versions[at].parts) == versions[at].all {
			newest = max(newest, at)
		}
	}
	if len(versions) > 0 && newest == 0 {
		return nil, 0, fmt.Errorf("the metric %s has only a part of a note", note)
	}
	return versions, newest, nil
}

// SetNote implements driver.DB. It writes the note beside the one before, which is
// the newer one until all of this one is there, and goes then.
func (d *database) SetNote(ctx context.Context, text string) error {
	before, newest, err := d.versions(ctx)
	if err != nil {
		return err
	}
	content := base64.RawURLEncoding.EncodeToString([]byte(text))
	parts := slices.Collect(slices.Chunk([]byte(content), partLength))
	now := time.Now()
	at := max(now.UnixNano(), newest+1)
	var lines []byte
	for i, part := range parts {
		lines = fmt.Appendf(lines, "%s,version=%d,part=%d,content=%s text=%d %d\n", metric.NoteTable, at, i, part, len(parts), now.UnixNano())
	}
	to, err := d.settings.writes().Open(ctx)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err := to.Send(ctx, [][]byte{lines}); err != nil {
		return err
	}
	// A cluster shows a sample a little later than it has acknowledged it.
	for deadline := now.Add(d.settings.wire.Timeout); ; {
		_, newest, err := d.versions(ctx)
		if newest == at {
			break
		}
		if err == nil && time.Now().After(deadline) {
			err = errors.New("the note was written, and is not there")
		}
		if err != nil && time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err := d.keep(ctx); err != nil {
		return err
	}
	for old := range before {
		if err := d.delete(ctx, fmt.Sprintf(`{__name__=%q, version="%d"}`, note, old)); err != nil {
			return err
		}
	}
	return nil
}

// keep brings what is in the server's memory to its disk, as a snapshot does, which
// is not kept. A server that does not let tsmark do so has it there seconds later.
func (d *database) keep(ctx context.Context) error {
	answer, err := d.own.get(ctx, http.MethodGet, "/snapshot/create", nil)
	var made struct{ Snapshot string }
	if err == nil && json.Unmarshal(answer, &made) == nil && made.Snapshot != "" {
		_, err = d.own.get(ctx, http.MethodGet, "/snapshot/delete", url.Values{"snapshot": {made.Snapshot}})
	}
	if errors.Is(err, driver.ErrUnreachable) || ctx.Err() != nil {
		return err
	}
	return nil
}

// Census implements driver.DB. VictoriaMetrics counts samples; where every row has
// one of the first field, that is the number of rows.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out := driver.Census{Rows: -1, Digits: digits, Fields: make([]driver.Content, len(t.Fields))}
	err := d.census(ctx, t, &out)
	if err != nil {
		return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
	}
	if sure(t, t.Fields[0].Name) {
		out.Rows = out.Fields[0].Count
	}
	return out, nil
}

// figure is what MetricsQL computes of all samples.
type figure struct {
	across, each string // functions over series, and over the samples of each
	put          func(*driver.Content, query.Value)
}

func figures() []figure {
	return []figure{
		{"sum", "count_over_time", func(c *driver.Content, v query.Value) { c.Count = int64(v.Float) }},
		{"sum", "sum_over_time", func(c *driver.Content, v query.Value) { c.Sum = &v }},
		{"min", "min_over_time", func(c *driver.Content, v query.Value) { c.Min = &v }},
		{"max", "max_over_time", func(c *driver.Content, v query.Value) { c.Max = &v }},
	}
}

func (d *database) census(ctx context.Context, t *series.Table, out *driver.Census) error {
	r := &renderer{q: &query.Query{Table: t.Name}, table: t, from: earliest, to: latest}
	compute := func(f figure, fields ...string) (query.Value, error) {
		p := &metric.Plan{At: latest, Fields: []metric.Field{{Name: metric.RowName}}}
		p.Fields[0].Name = metric.Own + "figure"
		p.Expression = named(f.across+"("+over(f.each, r.selector(fields), r.all())+")", p.Fields[0].Name)
		rows, err := d.own.ask(ctx, p)
		switch {
		case err != nil:
			return query.Value{}, err
		case len(rows) == 0:
			return query.Value{}, nil
		case len(rows) > 1:
			return query.Value{}, fmt.Errorf("expected one figure, found %d", len(rows))
		}
		return rows[0][0], nil
	}
	var all []string
	for i, field := range t.Fields {
		all = append(all, field.Name)
		for _, f := range figures() {
			v, err := compute(f, field.Name)
			if err != nil {
				return err
			}
			f.put(&out.Fields[i], v)
		}
		single(field.Type, out.Fields[i].Min)
		single(field.Type, out.Fields[i].Max)
	}
	for moment, f := range map[**query.Value]figure{
		&out.Times.Min: {across: "min", each: "tfirst_over_time"},
		&out.Times.Max: {across: "max", each: "tlast_over_time"},
	} {
		v, err := compute(f, append(all, metric.NullField)...)
		if err != nil {
			return err
		}
		if v.Kind != query.Null {
			v = query.Value{Kind: query.Time, Int: int64(v.Float*1000+0.5) * int64(time.Millisecond)}
		}
		*moment = &v
	}
	return nil
}

// single makes a value of a Float32 the single nearest to it.
func single(t series.Type, v *query.Value) {
	if t == series.Float32 {
		v.Float = float64(float32(v.Float))
	}
}

// ListSeries implements driver.SeriesLister.
func (d *database) ListSeries(ctx context.Context, _ *series.Schema, t *series.Table, sink query.Sink) error {
	r := &renderer{q: &query.Query{Table: t.Name}, table: t, from: earliest, to: latest}
	p := &metric.Plan{At: latest}
	var keys []string
	for i := range t.Tags {
		keys = append(keys, t.Tags[i].Key)
		p.Tags = append(p.Tags, metric.Tag{Label: t.Tags[i].Key, Number: t.Tags[i].Numeric()})
	}
	fields := []string{metric.NullField}
	for _, f := range t.Fields {
		if fields = append(fields, f.Name); sure(t, f.Name) {
			fields = []string{f.Name}
			break
		}
	}
	p.Expression = grouped("count", over("count_over_time", r.selector(fields), r.all()), keys...)
	return d.own.run(ctx, p, sink)
}
