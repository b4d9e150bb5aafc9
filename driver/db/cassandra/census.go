package cassandra

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// fieldsAtOnce is the number of fields per statement.
const fieldsAtOnce = 100

// Census implements driver.DB. The server counts partition by partition over the whole table,
// independently of the registry.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out, err := d.census(ctx, t)
	if err != nil {
		return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
	}
	return out, nil
}

// CountRows implements driver.DB.
func (d *database) CountRows(ctx context.Context, t *series.Table) (n int64, err error) {
	if d.layout.narrow {
		return -1, nil
	}
	err = d.scan(ctx, func(row []query.Value) error {
		n += row[0].Int
		return nil
	}, fmt.Sprintf("SELECT count(*) FROM %s GROUP BY %s, %s", d.layout.rows(t), seriesColumn, bucketColumn))
	if err != nil {
		return 0, fmt.Errorf("counting the rows of table %s: %w", t.Name, err)
	}
	return n, nil
}

func (d *database) census(ctx context.Context, t *series.Table) (out driver.Census, err error) {
	if d.layout.narrow {
		return d.censusOfValues(ctx, t)
	}
	for from := 0; from == 0 || from < len(t.Fields); from += fieldsAtOnce {
		if err := d.contents(ctx, t, t.Fields[from:min(from+fieldsAtOnce, len(t.Fields))], &out); err != nil {
			return out, err
		}
	}
	return out, d.sums(ctx, t, &out)
}

// contents counts some fields.
func (d *database) contents(ctx context.Context, t *series.Table, fields []series.Field, out *driver.Census) error {
	list := fmt.Sprintf("count(*), min(%s), max(%[1]s)", timeColumn)
	for _, f := range fields {
		c := ident(f.Name)
		list += fmt.Sprintf(", count(%s), min(%[1]s), max(%[1]s)", c)
		if sum := sumOf(f.Type, c); sum != "" {
			list += ", " + sum
		}
	}
	counted := make([]driver.Content, len(fields))
	for i := range counted {
		counted[i] = driver.Content{Min: &query.Value{}, Max: &query.Value{}}
		if sumOf(fields[i].Type, "") != "" {
			counted[i].Sum = &query.Value{}
		}
	}
	out.Rows, out.Times = 0, driver.Content{Min: &query.Value{}, Max: &query.Value{}}
	text := fmt.Sprintf("SELECT %s FROM %s GROUP BY %s, %s", list, d.layout.rows(t), seriesColumn, bucketColumn)
	err := d.scan(ctx, func(row []query.Value) error {
		next := func() query.Value {
			v := row[0]
			row = row[1:]
			return v
		}
		out.Rows += next().Int
		extend(&out.Times, next(), next())
		for i, f := range fields {
			c := &counted[i]
			n := next().Int
			c.Count += n
			extend(c, next(), next())
			if c.Sum == nil {
				continue
			}
			if v := next(); n > 0 && f.Type.UsesInts() {
				*c.Sum = query.Value{Kind: query.Int, Int: c.Sum.Int + v.Int}
			} else if n > 0 {
				*c.Sum = query.Value{Kind: query.Float, Float: c.Sum.Float + v.Float}
			}
		}
		return nil
	}, text)
	out.Fields = append(out.Fields, counted...)
	return err
}

// sumOf is the sum of a column of numbers; empty: Cassandra cannot compute it.
func sumOf(t series.Type, column string) string {
	switch t {
	case series.Float, series.Int, series.Timestamp: // sums of bigint are in two's complement
		return "sum(" + column + ")"
	case series.Int32:
		return "sum(CAST(" + column + " AS bigint))"
	case series.Float32:
		return "sum(CAST(" + column + " AS double))"
	}
	return ""
}

// extend widens the bounds of values. It copies texts that become bounds.
func extend(c *driver.Content, least, most query.Value) {
	for _, b := range []struct {
		of   *query.Value
		v    query.Value
		sign int
	}{{c.Min, least, -1}, {c.Max, most, 1}} {
		if b.v.Kind != query.Null && (b.of.Kind == query.Null || b.sign*query.CompareRows([]query.Value{b.v}, []query.Value{*b.of}) > 0) {
			*b.of = b.v
			b.of.Text = append([]byte(nil), b.v.Text...)
		}
	}
}

// sums adds up values that Cassandra cannot add up, by reading them.
func (d *database) sums(ctx context.Context, t *series.Table, out *driver.Census) error {
	var fields []int
	var list []string
	for i, f := range t.Fields {
		if out.Fields[i].Sum == nil {
			fields, list = append(fields, i), append(list, ident(f.Name))
			out.Fields[i].Sum = &query.Value{Kind: query.Int}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	err := d.scan(ctx, func(row []query.Value) error {
		for i, v := range row {
			switch sum := out.Fields[fields[i]].Sum; v.Kind {
			case query.Null:
			case query.Text:
				sum.Int += oracle.TextSum(v.Text)
			default:
				sum.Int += v.Int
			}
		}
		return nil
	}, fmt.Sprintf("SELECT %s FROM %s", strings.Join(list, ", "), d.layout.rows(t)))
	return err
}

// ListSeries implements driver.DB: the tags of the series that have
// partitions.
func (d *database) ListSeries(ctx context.Context, _ *series.Schema, t *series.Table, sink query.Sink) error {
	if d.layout.narrow {
		return d.listNamed(ctx, t, sink)
	}
	present := map[int64]bool{}
	err := d.scan(ctx, func(row []query.Value) error {
		present[row[0].Int] = true
		return nil
	}, fmt.Sprintf("SELECT DISTINCT %s, %s FROM %s", seriesColumn, bucketColumn, d.layout.rows(t)))
	if err != nil {
		return err
	}
	keys := make([]string, len(t.Tags))
	for i := range t.Tags {
		keys[i] = t.Tags[i].Key
	}
	err = d.scan(ctx, func(row []query.Value) error {
		if len(row) != 1+len(keys) {
			return errors.New("the registry's answer has not its columns")
		}
		if !present[row[0].Int] {
			return nil
		}
		return sink.Row(row[1:])
	}, fmt.Sprintf("SELECT DISTINCT %s%s FROM %s", seriesColumn, columns(keys), d.layout.registry(t)))
	return err
}
