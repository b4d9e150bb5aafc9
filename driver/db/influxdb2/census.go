package influxdb2

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// all returns the values of fields of a measurement.
func (d *database) all(t *series.Table, fields ...string) flow {
	r := renderer{q: &query.Query{}, table: t, bucket: d.settings.bucket}
	return r.source(fields...)
}

// Census implements driver.DB. InfluxDB counts the values of fields; if every row has a value of the
// first field, their number is the number of rows. For texts it computes no other figure. A row that is
// written twice exists once.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out := driver.Census{Rows: -1, Fields: make([]driver.Content, len(t.Fields))}
	err := d.readTimes(ctx, t, &out.Times)
	if err == nil {
		err = d.contents(ctx, t, out.Fields)
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
	return driver.CountByField(t, func(field string) (int64, error) {
		rows, err := d.own.queryRows(ctx, d.all(t, field).pipe(group(fieldColumn)).pipe("count()"), valueColumn)
		switch {
		case err != nil || len(rows) == 0:
			return 0, err
		case len(rows) > 1:
			return 0, fmt.Errorf("expected one count, found %d", len(rows))
		}
		return rows[0][0].Int, nil
	})
}

// witnesses returns the values of fields such that each row has at least one of them. Flux has a table
// for each series and field; if all rows have the first field, its values are enough.
func (d *database) witnesses(t *series.Table) flow {
	return d.all(t, influx.Rows{Query: &query.Query{}, Table: t}.Witnesses(nil)...)
}

// readTimes reads the first and the last time.
func (d *database) readTimes(ctx context.Context, t *series.Table, out *driver.Content) error {
	out.Min, out.Max = new(query.Value), new(query.Value)
	for function, to := range map[string]*query.Value{"first": out.Min, "last": out.Max} {
		f := d.witnesses(t).pipe(function+"()", "keep(columns: "+list([]string{timeColumn})+")", "group()")
		order := query.Ascending
		if to == out.Max {
			order = query.Descending
		}
		rows, err := d.own.queryRows(ctx, f.pipe(sortRows(order, timeColumn)...).pipe(first(1)), timeColumn)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			*to = rows[0][0]
		}
	}
	return nil
}

// contents reads the figures of the values of fields, with one query per figure, since each figure
// costs a pass over the values.
func (d *database) contents(ctx context.Context, t *series.Table, out []driver.Content) error {
	every := func(series.Type) bool { return true }
	number := func(t series.Type) bool { return !t.Textual() && t != series.Bool } // types that are numbers in InfluxDB
	boolean := func(t series.Type) bool { return t == series.Bool }
	for i := range out {
		switch kind := t.Fields[i].Type; {
		case number(kind):
			out[i].Sum, out[i].Min, out[i].Max = new(query.Value), new(query.Value), new(query.Value)
		case boolean(kind):
			out[i].Sum = &query.Value{Kind: query.Int}
		}
	}
	for _, figure := range []struct {
		steps []string
		of    func(series.Type) bool
		put   func(*driver.Content, query.Value)
	}{
		{[]string{"count()"}, every, func(c *driver.Content, v query.Value) { c.Count = v.Int }},
		{[]string{"sum()"}, number, func(c *driver.Content, v query.Value) { *c.Sum = v }},
		{[]string{"min()"}, number, func(c *driver.Content, v query.Value) { *c.Min = v }},
		{[]string{"max()"}, number, func(c *driver.Content, v query.Value) { *c.Max = v }},
		{[]string{filter(member(valueColumn) + " == true"), "count()"}, boolean, func(c *driver.Content, v query.Value) { c.Sum.Int = v.Int }},
	} {
		var names []string
		for _, f := range t.Fields {
			if figure.of(f.Type) {
				names = append(names, f.Name)
			}
		}
		if len(names) == 0 {
			continue
		}
		rows, err := d.own.queryRows(ctx, d.all(t, names...).pipe(group(fieldColumn)).pipe(figure.steps...), fieldColumn, valueColumn)
		if err != nil {
			return err
		}
		for _, row := range rows {
			at := t.FieldIndex(string(row[0].Text))
			if at < 0 || !figure.of(t.Fields[at].Type) {
				return fmt.Errorf("the answer has the unexpected field %s", row[0])
			}
			figure.put(&out[at], row[1])
		}
	}
	return nil
}

// ListSeries implements driver.DB, with the newest values of each series.
func (d *database) ListSeries(ctx context.Context, _ *series.Schema, t *series.Table, sink query.Sink) error {
	var keys []string
	for i := range t.Tags {
		if tag := &t.Tags[i]; !tag.Numeric() {
			keys = append(keys, tag.Key)
		}
	}
	f := d.witnesses(t).pipe("last()", fmt.Sprintf("drop(columns: %s)", list([]string{valueColumn})), "group()", keepColumns(newColumns(keys...)))
	return d.own.run(ctx, f, newColumns(keys...), sink)
}
