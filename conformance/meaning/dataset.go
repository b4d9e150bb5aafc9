package meaning

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// dataset is the rows of a document. It is a workload.Dataset.
type dataset struct {
	schema  *series.Schema
	numbers []string
	metrics []string
	known   map[string]uint32 // series by their tags, in all tables alike
	rows    []row             // in their order
}

// row is a row as it was read.
type row struct {
	table  *series.Table
	series uint32
	time   int64
	values map[string]query.Value // by field; without NULLs
}

func newDataset() dataset {
	return dataset{schema: &series.Schema{}, known: map[string]uint32{}}
}

// Schema implements workload.Dataset.
func (d *dataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset.
func (d *dataset) Open() workload.Reader { return &reader{left: d.rows} }

// Earliest returns the time of the earliest row, in nanoseconds since 1970.
func (d *dataset) Earliest() int64 {
	return slices.MinFunc(d.rows, func(a, b row) int { return cmp.Compare(a.time, b.time) }).time
}

// tagValues are the values of a tag, by series.
type tagValues struct{ of map[uint32]string }

// Append implements series.TagValues.
func (v tagValues) Append(to []byte, series uint32) ([]byte, bool) {
	text, has := v.of[series]
	return append(to, text...), has
}

// reader gives the rows of a dataset, in runs of one table each.
type reader struct{ left []row }

// Next implements workload.Reader.
func (r *reader) Next(b *series.Batch, most int) error {
	b.Reset()
	if len(r.left) == 0 {
		return io.EOF
	}
	var run *series.Run
	for range min(most, len(r.left)) {
		row := r.left[0]
		r.left = r.left[1:]
		if run == nil || run.Table != row.table {
			run = b.Add(row.table)
		}
		row.add(run)
	}
	return nil
}

// add appends the row to a run.
func (r *row) add(run *series.Run) {
	at := run.Rows()
	run.Grow(at + 1)
	run.Series[at], run.Times[at] = r.series, r.time
	for f, field := range r.table.Fields {
		switch v, has := r.values[field.Name]; {
		case !has:
			run.SetNull(f, at)
		case field.Type == series.Float:
			run.Columns[f].Floats[at] = v.Float
		case field.Type == series.Text:
			run.Columns[f].Ints[at], _ = series.ParseText(v.Text)
		default:
			run.Columns[f].Ints[at] = v.Int
		}
	}
}

// row takes a row of line protocol.
func (d *dataset) row(line string) error {
	parts := slices.DeleteFunc(split(line, ' '), func(part string) bool { return part == "" })
	if len(parts) != 3 {
		return errors.New("a row is its table and tags, its fields, and its time: cpu,host=a usage=1i 2016-01-01T00:00:00Z")
	}
	at, err := time.Parse(time.RFC3339Nano, parts[2])
	if err != nil {
		return fmt.Errorf("%q is not a time such as 2016-01-01T00:00:00Z", parts[2])
	}
	key := split(parts[0], ',')
	table := d.table(plain(key[0]))
	out := row{table: table, time: at.UnixNano(), values: map[string]query.Value{}}
	var known bool
	tags := strings.Join(key[1:], ",")
	if out.series, known = d.known[tags]; !known {
		out.series = d.schema.Series
		d.known[tags] = out.series
		d.schema.Series++
	}
	for _, part := range key[1:] {
		pair := split(part, '=')
		if len(pair) != 2 {
			return fmt.Errorf("the tag %q is not of the form key=value", part)
		}
		d.tag(table, plain(pair[0])).of[out.series] = plain(pair[1])
	}
	for _, part := range split(parts[1], ',') {
		pair := split(part, '=')
		if len(pair) != 2 {
			return fmt.Errorf("the field %q is not of the form key=value", part)
		}
		name, text := plain(pair[0]), pair[1]
		kind := series.Float
		switch {
		case text == "t" || text == "f":
			kind = series.Bool
			text = map[string]string{"t": "true", "f": "false"}[text]
		case strings.HasPrefix(text, `"`):
			kind = series.Text
			text = strings.Trim(text, `"`)
		case strings.HasSuffix(text, "i"):
			kind = series.Int
			text = strings.TrimSuffix(text, "i")
		}
		v, err := value(text, query.KindOf(kind))
		if err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		f := table.FieldIndex(name)
		if f < 0 {
			f = len(table.Fields)
			table.Fields = append(table.Fields, series.Field{Name: name, Type: kind, Length: len(v.Text)})
		}
		if len(v.Text) != table.Fields[f].Length {
			return fmt.Errorf("the texts of field %s differ in length", name)
		}
		if table.Fields[f].Type != kind {
			return fmt.Errorf("field %s is %v, and was %v before", name, kind, table.Fields[f].Type)
		}
		if v.Kind != query.Null {
			out.values[name] = v
		}
	}
	d.rows = append(d.rows, out)
	if d.schema.First.IsZero() || at.Before(d.schema.First) {
		d.schema.First = at
	}
	if at.After(d.schema.Last) {
		d.schema.Last = at
	}
	return nil
}

// table returns the table of the name, which it makes if it is new.
func (d *dataset) table(name string) *series.Table {
	if t := d.schema.Table(name); t != nil {
		return t
	}
	t := &series.Table{Name: name}
	if slices.Contains(d.metrics, name) {
		t.Metric = &series.Metric{Kind: series.Gauge, Family: name}
		if family, counter := strings.CutSuffix(name, "_total"); counter {
			t.Metric.Kind, t.Metric.Family = series.Counter, family
		}
	}
	d.schema.Tables = append(d.schema.Tables, t)
	return t
}

// tag returns the values of a tag, which it makes if it is new.
func (d *dataset) tag(t *series.Table, key string) tagValues {
	if tag := t.Tag(key); tag != nil {
		return tag.Values.(tagValues)
	}
	tag := series.Tag{Key: key, Values: tagValues{map[uint32]string{}}}
	if slices.Contains(d.numbers, key) {
		tag.Type = series.Float
	}
	t.Tags = append(t.Tags, tag)
	return tag.Values.(tagValues)
}

// split cuts a text at a character, except after a backslash.
func split(text string, at byte) []string {
	var parts []string
	begin := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case at:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:])
}

// plain removes the backslashes before characters that line protocol escapes.
func plain(text string) string {
	return strings.NewReplacer(`\ `, " ", `\,`, ",", `\=`, "=").Replace(text)
}

// value reads a value of a kind.
func value(text string, kind query.Kind) (v query.Value, err error) {
	v.Kind = kind
	switch {
	case text == "NULL":
		return query.Value{}, nil
	case kind == query.Time:
		var at time.Time
		at, err = time.Parse(time.RFC3339Nano, text)
		v.Int = at.UnixNano()
	case kind == query.Int:
		v.Int, err = strconv.ParseInt(text, 10, 64)
	case kind == query.Float:
		v.Float, err = strconv.ParseFloat(text, 64)
	case kind == query.Bool:
		if text != "true" && text != "false" {
			err = errors.New("is neither true nor false")
		} else if text == "true" {
			v.Int = 1
		}
	default:
		v.Text = []byte(text)
	}
	if err != nil {
		return v, fmt.Errorf("%q: %w", text, err)
	}
	return v, nil
}

// fields cuts a line at blanks. Text in double quotes is one field, in Go's
// syntax.
func fields(line string) ([]string, error) {
	var list []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("%s: a quote that does not end", line)
			}
			text, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", quoted, err)
			}
			list, line = append(list, text), line[len(quoted):]
			continue
		}
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		list, line = append(list, line[:end]), line[end:]
	}
	return list, nil
}
