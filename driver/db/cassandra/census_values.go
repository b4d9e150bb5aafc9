package cassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// censusOfValues takes a census in the narrow layout. The server counts all partitions of the tables of
// values, whose names identify the series, field and day. Rows are counted by a field that each row
// has, if there is one.
func (d *database) censusOfValues(ctx context.Context, t *series.Table) (driver.Census, error) {
	out := driver.Census{Rows: -1, Fields: make([]driver.Content, len(t.Fields)), Times: driver.Content{Min: &query.Value{}, Max: &query.Value{}}}
	for i, f := range t.Fields {
		sum := &query.Value{Kind: query.Int}
		if sumOf(f.Type, "") != "" {
			sum = &query.Value{}
		}
		out.Fields[i] = driver.Content{Min: &query.Value{}, Max: &query.Value{}, Sum: sum}
	}
	for _, v := range valueTables(&series.Schema{Tables: []*series.Table{t}}) {
		if err := d.countValues(ctx, t, v, &out); err != nil {
			return out, err
		}
	}
	for i, f := range t.Fields {
		if t.EachRowHas(f.Name) {
			out.Rows = out.Fields[i].Count
			break
		}
	}
	return out, nil
}

// countValues counts the values of a table of rows in a table of values.
func (d *database) countValues(ctx context.Context, t *series.Table, v valueTable, out *driver.Census) error {
	list, summed := "", v.as == "bigint" || v.as == "float" || v.as == "double"
	if summed {
		list = ", sum(" + valueColumn + ")"
		if v.as == "float" {
			list = ", sum(CAST(" + valueColumn + " AS double))"
		}
	}
	field := func(id query.Value) (at int, of *series.Field, ours bool) {
		key, name, ok := splitPartition(id.String())
		if !ok || !belongs(key, t) {
			return 0, nil, false
		}
		if at = t.FieldIndex(name); at >= 0 {
			of = &t.Fields[at]
		}
		return at, of, true
	}
	err := d.scan(ctx, func(row []query.Value) error {
		at, f, ours := field(row[0])
		if !ours {
			return nil
		}
		n, times, bounds := row[1].Int, row[2:4], row[4:6]
		for i := range times {
			times[i].Kind = query.Time
		}
		extend(&out.Times, times[0], times[1])
		if f == nil { // for rows without a value
			return nil
		}
		as := narrowField{Type: f.Type}
		c := &out.Fields[at]
		c.Count += n
		extend(c, as.value(bounds[0]), as.value(bounds[1]))
		if summed && sumOf(f.Type, "") != "" && n > 0 {
			if s := row[6]; s.Kind == query.Float {
				*c.Sum = query.Value{Kind: query.Float, Float: c.Sum.Float + s.Float}
			} else {
				*c.Sum = query.Value{Kind: query.Int, Int: c.Sum.Int + s.Int}
			}
		}
		return nil
	}, fmt.Sprintf("SELECT %s, count(*), min(%s), max(%[2]s), min(%s), max(%[3]s)%s FROM %s GROUP BY %[1]s", idColumn, nanosecondsName, valueColumn, list, d.layout.qualify(v.name)))
	adds := slices.ContainsFunc(t.Fields, func(f series.Field) bool { return valueTableOf(f.Type) == v && sumOf(f.Type, "") == "" })
	if err != nil || !adds {
		return err
	}
	// Values that Cassandra cannot add up are read.
	return d.scan(ctx, func(row []query.Value) error {
		at, f, ours := field(row[0])
		if !ours || f == nil || sumOf(f.Type, "") != "" {
			return nil
		}
		if sum := out.Fields[at].Sum; row[1].Kind == query.Text {
			sum.Int += oracle.TextSum(row[1].Text)
		} else {
			sum.Int += row[1].Int
		}
		return nil
	}, fmt.Sprintf("SELECT %s, %s FROM %s", idColumn, valueColumn, d.layout.qualify(v.name)))
}

// belongs reports whether a series, identified by the key of a partition, is in a table.
func belongs(key string, t *series.Table) bool {
	rest, ok := strings.CutPrefix(key, t.Name)
	return ok && (rest == "" || rest[0] == ',')
}

// listNamed is ListSeries in the narrow layout.
func (d *database) listNamed(ctx context.Context, t *series.Table, sink query.Sink) error {
	present := map[string]bool{}
	for _, v := range valueTables(&series.Schema{Tables: []*series.Table{t}}) {
		err := d.scan(ctx, func(row []query.Value) error {
			if key, _, ok := splitPartition(row[0].String()); ok && belongs(key, t) {
				present[strings.Clone(key)] = true
			}
			return nil
		}, fmt.Sprintf("SELECT DISTINCT %s FROM %s", idColumn, d.layout.qualify(v.name)))
		if err != nil {
			return err
		}
	}
	keys := make([]string, len(t.Tags))
	for i := range t.Tags {
		keys[i] = t.Tags[i].Key
	}
	return d.scan(ctx, func(row []query.Value) error {
		if len(row) != 2+len(keys) {
			return errors.New("the registry's answer has not its columns")
		}
		if !present[row[1].String()] {
			return nil
		}
		return sink.Row(row[2:])
	}, fmt.Sprintf("SELECT DISTINCT %s, %s%s FROM %s", seriesColumn, keyColumn, columns(keys), d.layout.registry(t)))
}
