package iotdb

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// ListSeries implements driver.DB.
func (d *database) ListSeries(ctx context.Context, _ *series.Schema, t *series.Table, sink query.Sink) error {
	return d.admin.Do(ctx, func(c *conn) error { return d.listSeries(ctx, c, t, sink) })
}

// exact reports whether a sum of whole numbers, which IoTDB computes in doubles, is exact: no partial
// sum can exceed the exact range.
func exact(c *driver.Content) bool {
	if c.Min == nil || c.Max == nil {
		return true
	}
	largest := math.Max(math.Abs(float64(c.Min.Int)), math.Abs(float64(c.Max.Int)))
	return largest*float64(c.Count) < 1<<53
}

// fieldsAtOnce is the number of fields per statement; figuresAtOnce and devicesAtOnce are the numbers
// of figures and devices. The server refuses statements for which it may lack memory. Version 2.0.1
// estimates 1.5 KB for each device and 0.36 KB for each figure of a device, however few rows there are.
// Counting a field of 12,000 devices took 18 MB, more than a server with a 1.5 GB heap had left.
const (
	fieldsAtOnce  = 100
	figuresAtOnce = 4_000
	devicesAtOnce = 500
)

// joinParts joins parts of a table, as many as a statement with the given number of columns may have
// after FROM.
func joinParts(parts []string, columns int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for some := range slices.Chunk(parts, max(min(figuresAtOnce/columns, devicesAtOnce), 1)) {
			if !yield(strings.Join(some, ", ")) {
				return
			}
		}
	}
}

// Census implements driver.DB.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out, err := d.census(ctx, t)
	if err != nil {
		return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
	}
	return out, nil
}

// census counts all devices of a table together. If doubles may have rounded a sum, it is computed from
// the values themselves, as are the sums of times and dates.
func (d *database) census(ctx context.Context, t *series.Table) (out driver.Census, err error) {
	parts, err := d.parts(ctx, d.admin, t)
	if err != nil {
		return out, err
	}
	for from := 0; from == 0 || from < len(t.Fields); from += fieldsAtOnce {
		if err := d.contents(ctx, t, parts, t.Fields[from:min(from+fieldsAtOnce, len(t.Fields))], &out); err != nil {
			return out, err
		}
	}
	for i, f := range t.Fields {
		c := &out.Fields[i]
		switch {
		case f.Free():
			err = d.digest(ctx, t, f.Name, c)
		case c.Count == 0 && !f.Type.Textual():
			c.Sum = &query.Value{}
		case f.Type == series.Bool:
			err = d.truths(ctx, t, f.Name, c)
		case f.Type == series.Timestamp, f.Type == series.Date, f.Type.Integer() && !exact(c):
			err = d.sumField(ctx, t, f.Name, c)
		case f.Type.Integer():
			c.Sum = &query.Value{Kind: query.Int, Int: int64(c.Sum.Float)}
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// CountRows implements driver.DB.
func (d *database) CountRows(ctx context.Context, t *series.Table) (int64, error) {
	by := d.counting(t)
	parts, err := d.parts(ctx, d.admin, t)
	sums := &rowSums{values: map[string]query.Value{}}
	for from := range joinParts(parts, 1) {
		if err == nil {
			err = d.admin.Do(ctx, func(c *conn) error {
				_, err := c.query(ctx, "SELECT "+by.rows+" AS n FROM "+from+by.each, sums)
				return err
			})
		}
	}
	if err != nil {
		return 0, fmt.Errorf("counting the rows of table %s: %w", t.Name, err)
	}
	return sums.values["n"].Int, nil
}

// contents computes the figures of values in parts of a table, some at a time, and adds the results up.
// Its columns have aliases: the result lacks the columns of a measurement that no device has.
func (d *database) contents(ctx context.Context, t *series.Table, parts []string, fields []series.Field, out *driver.Census) error {
	by := d.counting(t)
	columns := []string{by.rows + " AS n", by.first + " AS t0", by.last + " AS t1"}
	for i, f := range fields {
		name := by.quote(f.Name)
		if name != by.witness { // the witness is counted already
			columns = append(columns, fmt.Sprintf("count(%s) AS n%d", name, i))
		}
		if f.Type.Numeric() {
			columns = append(columns, fmt.Sprintf("sum(%s) AS s%d", name, i), fmt.Sprintf("%s(%s) AS a%d", by.least, name, i), fmt.Sprintf("%s(%s) AS z%d", by.most, name, i))
		}
	}
	var unit int64
	sums := &rowSums{values: map[string]query.Value{}}
	for from := range joinParts(parts, len(columns)) {
		err := d.admin.Do(ctx, func(c *conn) error {
			unit = int64(c.unit)
			_, err := c.query(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+from+by.each, sums)
			return err
		})
		if err != nil {
			return err
		}
	}
	out.Rows = sums.values["n"].Int
	for name, to := range map[string]**query.Value{"t0": &out.Times.Min, "t1": &out.Times.Max} {
		v := sums.values[name]
		if v.Kind == query.Int {
			v = query.Value{Kind: query.Time, Int: v.Int * unit}
		}
		*to = &v
	}
	for i, f := range fields {
		c := driver.Content{Count: sums.values[fmt.Sprintf("n%d", i)].Int}
		if by.quote(f.Name) == by.witness {
			c.Count = out.Rows
		}
		if f.Type.Numeric() {
			sum, least, most := sums.values[fmt.Sprintf("s%d", i)], sums.values[fmt.Sprintf("a%d", i)], sums.values[fmt.Sprintf("z%d", i)]
			c.Sum, c.Min, c.Max = &sum, &least, &most
		}
		out.Fields = append(out.Fields, c)
	}
	return nil
}

// rowSums reads rows by the names of their columns, one row or one per device, and adds them up:
// counts n, sums s, the minimum of t0 and a, and the maximum of t1 and z.
type rowSums struct {
	names  []string
	values map[string]query.Value
}

func (r *rowSums) columns(names, _ []string) error {
	r.names = slices.Clone(names)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("the answer has more than one column %s", name)
		}
	}
	return nil
}

func (r *rowSums) end() (int64, error) { return 0, nil }

func (r *rowSums) take(values []query.Value) (int64, error) {
	for i, v := range values {
		name := r.names[i]
		total := r.values[name]
		switch {
		case v.Kind == query.Null || name == deviceColumn:
			continue
		case strings.HasPrefix(name, "n"), strings.HasPrefix(name, "s"):
			total = query.Value{Kind: v.Kind, Int: total.Int + v.Int, Float: total.Float + v.Float}
		case total.Kind == query.Null, (name == "t0" || strings.HasPrefix(name, "a")) == isLess(v, total):
			total = v
		}
		r.values[name] = total
	}
	return 1, nil
}

// isLess compares numbers and times.
func isLess(a, b query.Value) bool {
	if a.Kind == query.Float {
		return a.Float < b.Float
	}
	return a.Int < b.Int
}

// truths counts the booleans that are true: the tree model counts them device by device.
func (d *database) truths(ctx context.Context, t *series.Table, field string, c *driver.Content) error {
	by := d.counting(t)
	var sum int64
	err := d.scan(ctx, fmt.Sprintf("SELECT count(%s) FROM %s WHERE %[1]s = true%[3]s", by.quote(field), by.from, by.each), func(v query.Value) error {
		sum += v.Int
		return nil
	})
	c.Sum = &query.Value{Kind: query.Int, Int: sum}
	return err
}

// sumField adds up the values of a field.
func (d *database) sumField(ctx context.Context, t *series.Table, field string, c *driver.Content) error {
	by := d.counting(t)
	var sum int64
	var least, most query.Value
	err := d.scan(ctx, fmt.Sprintf("SELECT %s FROM %s%s", by.quote(field), by.from, by.each), func(v query.Value) error {
		if v.Kind == query.Null {
			return nil
		}
		sum += v.Int
		if least.Kind == query.Null || v.Int < least.Int {
			least = v
		}
		if most.Kind == query.Null || v.Int > most.Int {
			most = v
		}
		return nil
	})
	c.Sum, c.Min, c.Max = &query.Value{Kind: query.Int, Int: sum}, &least, &most
	return err
}

// digest computes the digest of free texts from the texts themselves.
func (d *database) digest(ctx context.Context, t *series.Table, field string, c *driver.Content) error {
	by := d.counting(t)
	c.Sum = &query.Value{Kind: query.Int}
	return d.scan(ctx, fmt.Sprintf("SELECT %s FROM %s%s", by.quote(field), by.from, by.each), func(v query.Value) error {
		if v.Kind != query.Null {
			c.Sum.Int += oracle.TextSum(v.Text)
		}
		return nil
	})
}

// scan passes on the last column of a result.
func (d *database) scan(ctx context.Context, text string, each func(query.Value) error) error {
	_, err := d.admin.Query(ctx, text, query.SinkFunc(func(row []query.Value) error { return each(row[len(row)-1]) }))
	return err
}
