package influxdb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// fieldsAtOnce is the number of fields per statement; servers limit the length of a statement.
const fieldsAtOnce = 200

// Census implements driver.DB. InfluxDB counts the values of fields; if every row has a value of the
// first field, their number is the number of rows. For texts it computes no other figure; the digest of
// free texts is computed from the texts themselves. A row that is written twice exists once.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out := driver.Census{Rows: -1}
	err := d.readTimes(ctx, t, &out.Times)
	for from := 0; err == nil && from < len(t.Fields); from += fieldsAtOnce {
		var contents []driver.Content
		contents, err = d.contents(ctx, t, t.Fields[from:min(from+fieldsAtOnce, len(t.Fields))])
		out.Fields = append(out.Fields, contents...)
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; err == nil && f.Free() {
			err = d.digest(ctx, t, f.Name, &out.Fields[i])
		}
	}
	if err != nil {
		return driver.Census{}, fmt.Errorf("taking the census of measurement %s: %w", t.Name, err)
	}
	if t.EachRowHas(t.Fields[0].Name) {
		out.Rows = out.Fields[0].Count
	}
	return out, nil
}

// CountRows implements driver.DB.
func (d *database) CountRows(ctx context.Context, t *series.Table) (int64, error) {
	return driver.CountByField(t, func(string) (int64, error) {
		var out [1]driver.Content
		err := d.compute(ctx, t, figures()[0], t.Fields[:1], out[:])
		return out[0].Count, err
	})
}

// digest computes the digest of a free field's texts.
func (d *database) digest(ctx context.Context, t *series.Table, field string, out *driver.Content) error {
	out.Sum = &query.Value{Kind: query.Int}
	return d.own.Run(ctx, influx.Values(d.settings.retention, t.Name, field), query.SinkFunc(func(row []query.Value) error {
		out.Sum.Int += oracle.TextSum(row[len(row)-1].Text)
		return nil
	}))
}

// readTimes reads the first and the last time.
func (d *database) readTimes(ctx context.Context, t *series.Table, out *driver.Content) error {
	out.Min, out.Max = new(query.Value), new(query.Value)
	for newest, to := range map[bool]*query.Value{false: out.Min, true: out.Max} {
		rows, err := d.own.Query(ctx, influx.Edge(d.settings.retention, t.Name, newest))
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			*to = rows[0][0]
		}
	}
	return nil
}

// figure is an aggregate that InfluxQL computes of the values of fields of some types; NULL: there are
// no values.
type figure struct {
	function string
	of       func(series.Type) bool
	put      func(*driver.Content, query.Value)
}

func figures() []figure { // the first one counts
	every := func(series.Type) bool { return true }
	number := func(t series.Type) bool { return !t.Textual() && t != series.Bool } // types that are numbers in InfluxDB
	return []figure{
		{"count", every, func(c *driver.Content, v query.Value) { c.Count = v.Int }}, // NULL is 0
		{"sum", number, func(c *driver.Content, v query.Value) { c.Sum = &v }},
		{"min", number, func(c *driver.Content, v query.Value) { c.Min = &v }},
		{"max", number, func(c *driver.Content, v query.Value) { c.Max = &v }},
	}
}

// contents reads the figures of the values of fields. It runs a statement for each figure, since each
// costs a pass over the values, and the time-out of the option applies to each statement. Counting the
// booleans that are true needs another statement.
func (d *database) contents(ctx context.Context, t *series.Table, fields []series.Field) ([]driver.Content, error) {
	out := make([]driver.Content, len(fields))
	for _, f := range figures() {
		if err := d.compute(ctx, t, f, fields, out); err != nil {
			return nil, err
		}
	}
	boolean := figure{"count", func(t series.Type) bool { return t == series.Bool }, func(c *driver.Content, v query.Value) {
		c.Sum = &query.Value{Kind: query.Int, Int: v.Int}
	}}
	for i := range fields {
		if err := d.compute(ctx, t, boolean, fields[i:i+1], out[i:i+1], influx.Ident(fields[i].Name)+" = true"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compute reads a figure of fields and stores it in their contents.
func (d *database) compute(ctx context.Context, t *series.Table, f figure, fields []series.Field, out []driver.Content, where ...string) error {
	var names []string
	var to []*driver.Content
	for i := range fields {
		if f.of(fields[i].Type) {
			names, to = append(names, fields[i].Name), append(to, &out[i])
		}
	}
	if len(to) == 0 {
		return nil
	}
	rows, err := d.own.Query(ctx, influx.Compute(d.settings.product, f.function, names, d.settings.retention, t.Name, where...))
	switch {
	case err != nil:
		return err
	case len(rows) > 1 || len(rows) == 1 && len(rows[0]) != len(to):
		return fmt.Errorf("expected one row of %d values, found %d rows", len(to), len(rows))
	case len(rows) == 0:
		rows = [][]query.Value{make([]query.Value, len(to))}
	}
	for i, content := range to {
		f.put(content, rows[0][i])
	}
	return nil
}

// ListSeries implements driver.DB, from the index.
func (d *database) ListSeries(ctx context.Context, _ *series.Schema, t *series.Table, sink query.Sink) error {
	var keys []string
	for i := range t.Tags {
		if !t.Tags[i].Numeric() {
			keys = append(keys, t.Tags[i].Key)
		}
	}
	if d.settings.gemini() {
		return d.geminiSeries(ctx, t, keys, sink)
	}
	list := &seriesKeys{keys: keys, row: make([]query.Value, len(keys)), sink: sink}
	from := influx.Ident(t.Name)
	if d.settings.retention != "" {
		from = influx.Ident(d.settings.retention) + "." + from
	}
	return d.own.Run(ctx, "SHOW SERIES FROM "+from, list)
}

// seriesKeys is a query.Sink that parses series in the format of line protocol: cpu,host=a\ b,region=c.
type seriesKeys struct {
	keys []string
	row  []query.Value
	sink query.Sink
}

// Row implements query.Sink.
func (s *seriesKeys) Row(row []query.Value) error {
	if len(row) != 1 || row[0].Kind != query.Text {
		return fmt.Errorf("%v is not a series", row)
	}
	clear(s.row)
	text := row[0].Text
	var key, part []byte // of a tag: the text before its =, and the text since then; the measurement has no key
	tags := false        // true after the measurement, which may contain an equals sign
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',':
			if at := slices.Index(s.keys, string(key)); at >= 0 && key != nil {
				s.row[at] = query.Value{Kind: query.Text, Text: part}
			}
			key, part, tags = nil, nil, true
		case text[i] == '=' && key == nil && tags:
			key, part = part, []byte{}
		default:
			if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(influx.Escaped, text[i+1]) >= 0 {
				i++
			}
			part = append(part, text[i])
		}
	}
	return s.sink.Row(s.row)
}
