package influxdb

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// fieldsAtOnce is how many fields one statement asks about, whose length servers
// limit.
const fieldsAtOnce = 200

// Census implements driver.DB. InfluxDB counts the values of fields; where
// every row has one of the first field, that is the number of rows. Of texts it
// tells nothing else. A row that is written twice is there once.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out := driver.Census{Rows: -1}
	err := d.moments(ctx, t, &out.Times)
	for from := 0; err == nil && from < len(t.Fields); from += fieldsAtOnce {
		err = d.contents(ctx, t, t.Fields[from:min(from+fieldsAtOnce, len(t.Fields))], &out)
	}
	if err != nil {
		return driver.Census{}, fmt.Errorf("taking the census of measurement %s: %w", t.Name, err)
	}
	if r := (renderer{q: &query.Query{}, table: t}); r.sure(t.Fields[0].Name) {
		out.Rows = out.Fields[0].Count
	}
	return out, nil
}

// moments asks for the first and the last time.
func (d *database) moments(ctx context.Context, t *series.Table, out *driver.Content) error {
	out.Min, out.Max = new(query.Value), new(query.Value)
	for newest, to := range map[bool]*query.Value{false: out.Min, true: out.Max} {
		rows, err := d.ask(ctx, (&statement{columns: []string{"*"}, policy: d.settings.retention, from: t.Name, newest: newest, limit: 1}).String())
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			*to = rows[0][0]
		}
	}
	return nil
}

// contents asks for what the values of fields come to: a statement for each
// figure, since each costs a pass over the values, and the server's answer to a
// statement is waited for so long as the option says. How many booleans are true
// takes a statement of its own.
func (d *database) contents(ctx context.Context, t *series.Table, fields []series.Field, out *driver.Census) error {
	var names, numbers []string
	for _, f := range fields {
		names = append(names, f.Name)
		if summed(f.Type) {
			numbers = append(numbers, f.Name)
		}
	}
	told := make(map[string][]query.Value) // by function
	for function, of := range map[string][]string{"count": names, "sum": numbers, "min": numbers, "max": numbers} {
		var err error
		if told[function], err = d.figures(ctx, t, function, of); err != nil {
			return err
		}
	}
	number := 0
	for i, f := range fields {
		content := driver.Content{Count: told["count"][i].Int} // 0 where it is NULL
		switch {
		case summed(f.Type):
			content.Sum, content.Min, content.Max = &told["sum"][number], &told["min"][number], &told["max"][number]
			number++
		case f.Type == series.Bool:
			right, err := d.figures(ctx, t, "count", []string{f.Name}, ident(f.Name)+" = true")
			if err != nil {
				return err
			}
			content.Sum = &query.Value{Kind: query.Int, Int: right[0].Int}
		}
		out.Fields = append(out.Fields, content)
	}
	return nil
}

// figures applies a function to each of the fields of a table; NULL: there is no
// value.
func (d *database) figures(ctx context.Context, t *series.Table, function string, fields []string, where ...string) ([]query.Value, error) {
	values := make([]query.Value, len(fields))
	if len(fields) == 0 {
		return values, nil
	}
	s := &statement{columns: []string{as("time", timeColumn)}, policy: d.settings.retention, from: t.Name, where: where}
	for _, f := range fields {
		s.columns = append(s.columns, call(function, f))
	}
	rows, err := d.ask(ctx, s.String())
	switch {
	case err != nil:
		return nil, err
	case len(rows) > 1 || len(rows) == 1 && len(rows[0]) != len(fields):
		return nil, fmt.Errorf("expected one row of %d values, found %d rows", len(fields), len(rows))
	case len(rows) == 1:
		copy(values, rows[0])
	}
	return values, nil
}

// summed reports whether InfluxDB holds values of a type as numbers.
func summed(t series.Type) bool { return !t.Textual() && t != series.Bool }

// ListSeries implements driver.SeriesLister: the index has them all.
func (d *database) ListSeries(ctx context.Context, _ *series.Schema, t *series.Table, sink query.Sink) error {
	var keys []string
	for i := range t.Tags {
		if !t.Tags[i].Numeric() {
			keys = append(keys, t.Tags[i].Key)
		}
	}
	list := &seriesKeys{keys: keys, row: make([]query.Value, len(keys)), sink: sink}
	from := ident(t.Name)
	if d.settings.retention != "" {
		from = ident(d.settings.retention) + "." + from
	}
	return d.run(ctx, http.MethodGet, "SHOW SERIES FROM "+from, list)
}

// seriesKeys is a query.Sink that takes series apart, which InfluxDB writes as
// line protocol does: cpu,host=a\ b,region=c.
type seriesKeys struct {
	keys []string
	row  []query.Value
	sink query.Sink
}

// Row implements query.Sink.
func (s *seriesKeys) Row(row []query.Value) error {
	if len(row) != 1 || row[0].Kind != query.Text {
		return fmt.Errorf("%v is no series", row)
	}
	clear(s.row)
	parts := unescapedSplit(string(row[0].Text), ',')
	for _, part := range parts[1:] { // behind the measurement
		key, value := part, ""
		if pair := unescapedSplit(part, '='); len(pair) > 1 {
			key, value = pair[0], part[len(pair[0])+1:]
		}
		for i := range s.keys {
			if s.keys[i] == unescape(key) {
				s.row[i] = query.Value{Kind: query.Text, Text: []byte(unescape(value))}
			}
		}
	}
	return s.sink.Row(s.row)
}

// unescapedSplit splits a text at a character that no backslash stands before.
func unescapedSplit(text string, at byte) []string {
	var parts []string
	start := 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && strings.IndexByte(", =", text[i+1]) >= 0:
			i++
		case text[i] == at:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

var unescapeKey = strings.NewReplacer(`\,`, ",", `\=`, "=", `\ `, " ")

func unescape(text string) string { return unescapeKey.Replace(text) }
