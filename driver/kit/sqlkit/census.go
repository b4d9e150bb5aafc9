package sqlkit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Figures are the expressions for the figures of a column's values. The zero value only counts.
type Figures struct {
	// Sum is the expression to add up; empty: the system cannot compute it.
	Sum string
	// High are the upper 32 bits of each value if Sum are the lower ones, for systems in which a sum of
	// whole values would overflow; empty: it would not.
	High string
	// Whole means that sums are whole numbers in units of this size: 1000 for microseconds. 0: they are
	// doubles.
	Whole int64
	// Order is the expression for the minimum and maximum; empty: the system cannot compute them.
	Order string
}

// Counter reads the contents of SQL tables. It implements Census, CountRows, DistinctCensus and
// ListSeries of driver.DB.
type Counter struct {
	Dialect *sql.Dialect
	// Figures returns the expressions for a column of values of a type.
	Figures func(t series.Type, column string) Figures
	// Scaled returns the figures of the values of a decimal field times a factor, which are whole numbers, for an exact
	// sum; nil: decimals are added up as doubles.
	Scaled func(column string, factor int64) Figures
	// Text converts a sum of whole numbers, which may need more than 64 bits, to a text of decimal
	// digits; nil: sums do not need it.
	Text func(sum string) string
	// Named returns a table with its names in the database; nil: they are the table's own.
	Named func(*series.Table) *series.Table
	// Run runs a statement of tsmark's own.
	Run func(ctx context.Context, text string, sink query.Sink) error
}

// fieldsAtOnce is the number of fields per statement. PostgreSQL allows 1,664 columns in a result, and
// servers limit the length of a statement.
const fieldsAtOnce = 200

// Census implements driver.DB.
func (c *Counter) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	return c.readCensus(ctx, t, false)
}

// CountRows implements driver.DB.
func (c *Counter) CountRows(ctx context.Context, t *series.Table) (int64, error) {
	t, count := c.namedTable(t), "count(*)"
	if c.Dialect.Narrow { // every row has the first field
		count = c.Dialect.FilterAggregate("count", "*", sql.FieldColumn+" = "+c.Dialect.Text(t.Fields[0].Name))
	}
	var answer query.Answer
	err := c.Run(ctx, fmt.Sprintf("SELECT %s\nFROM %s", count, c.source(t, false)), limit.NewOwnSink(&answer))
	if err == nil && (len(answer.Rows) != 1 || answer.Rows[0][0].Kind != query.Int) {
		err = fmt.Errorf("expected one whole number, found %d rows", len(answer.Rows))
	}
	if err != nil {
		return 0, fmt.Errorf("counting the rows of table %s: %w", t.Name, err)
	}
	return answer.Rows[0][0].Int, nil
}

// DistinctCensus implements driver.DB.
func (c *Counter) DistinctCensus(ctx context.Context, t *series.Table) (driver.Census, error) {
	return c.readCensus(ctx, t, true)
}

// readCensus returns the contents of a table, counting all rows or only distinct ones.
func (c *Counter) readCensus(ctx context.Context, t *series.Table, distinct bool) (driver.Census, error) {
	var out driver.Census
	t = c.namedTable(t)
	for from := 0; from == 0 || from < len(t.Fields); from += fieldsAtOnce {
		fields := t.Fields[from:min(from+fieldsAtOnce, len(t.Fields))]
		var answer query.Answer
		err := c.Run(ctx, c.statement(t, fields, distinct), limit.NewOwnSink(&answer))
		if err == nil && len(answer.Rows) != 1 {
			err = fmt.Errorf("expected one row, found %d", len(answer.Rows))
		}
		if err == nil {
			err = c.read(answer.Rows[0], fields, &out)
		}
		if err != nil {
			return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
		}
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Free() && out.Fields[i].Sum == nil {
			sum, err := c.digest(ctx, t, f.Name, distinct)
			if err != nil {
				return driver.Census{}, fmt.Errorf("reading the texts of %s in table %s: %w", f.Name, t.Name, err)
			}
			out.Fields[i].Sum = &sum
		}
	}
	return out, nil
}

// digest computes the digest of free texts from the texts themselves, for databases without a hash
// function: the minimum and maximum alone say little about prose.
func (c *Counter) digest(ctx context.Context, t *series.Table, field string, distinct bool) (query.Value, error) {
	sum := query.Value{Kind: query.Int}
	column := c.Dialect.Ident(field)
	err := c.Run(ctx, fmt.Sprintf("SELECT %s\nFROM %s\nWHERE %[1]s IS NOT NULL", column, c.source(t, distinct)), query.SinkFunc(func(row []query.Value) error {
		sum.Int += oracle.TextSum(row[0].Text)
		return nil
	}))
	return sum, err
}

// source returns the rows of a table for a statement: all of them, or distinct ones.
func (c *Counter) source(t *series.Table, distinct bool) string {
	from := c.Dialect.Ident(t.Name)
	if distinct {
		from = fmt.Sprintf("(SELECT DISTINCT %s FROM %s) AS %[2]s", strings.Join(c.columns(t), ", "), from)
	}
	return from
}

// statement counts the rows, and computes the figures of the times and of each field.
func (c *Counter) statement(t *series.Table, fields []series.Field, distinct bool) string {
	d := c.Dialect
	guard := func(name string) (condition string) {
		if !d.Narrow {
			return ""
		}
		return sql.FieldColumn + " = " + d.Text(name)
	}
	first := guard(t.Fields[0].Name) // every row has this field
	columns := append([]string{d.FilterAggregate("count", "*", first)}, c.aggregates(c.times(), first)...)
	for _, f := range fields {
		column := d.Ident(f.Name)
		if d.Narrow {
			column = d.NarrowColumn(f.Type)
		}
		own := guard(f.Name)
		columns = append(columns, d.FilterAggregate("count", d.CountExpression(f.Type, column), own))
		columns = append(columns, c.aggregates(c.figuresOf(&f, column), own)...)
	}
	return fmt.Sprintf("SELECT %s\nFROM %s", strings.Join(columns, ",\n  "), c.source(t, distinct))
}

// figuresOf returns the expressions for the values of a field.
func (c *Counter) figuresOf(f *series.Field, column string) Figures {
	of := c.Figures(f.Type, column)
	if c.isScaled(f) {
		scaled := c.Scaled(column, int64(math.Pow10(f.Decimals)))
		of.High, of.Sum, of.Whole = scaled.High, scaled.Sum, scaled.Whole
	}
	return of
}

func (c *Counter) isScaled(f *series.Field) bool { return f.Decimals > 0 && c.Scaled != nil }

// times returns the expressions for the times of rows.
func (c *Counter) times() Figures { return c.Figures(series.Timestamp, c.timeName()) }

func (c *Counter) timeName() string { return cmp.Or(c.Dialect.TimeName, sql.TimeColumn) }

// columns returns the columns that identify a row of a table.
func (c *Counter) columns(t *series.Table) []string {
	d := c.Dialect
	names := []string{c.timeName()}
	if d.Wide {
		for i := range t.Tags {
			names = append(names, t.Tags[i].Key)
		}
	} else {
		names = append(names, sql.TagsIDColumn)
	}
	if d.Narrow {
		names = append(names, sql.FieldColumn)
	}
	taken := map[string]bool{}
	for _, f := range t.Fields {
		name := f.Name
		if d.Narrow {
			name = d.NarrowColumn(f.Type)
		}
		if !taken[name] {
			taken[name] = true
			names = append(names, name)
		}
	}
	for i, name := range names {
		names[i] = d.Ident(name)
	}
	return names
}

// aggregates returns the columns for the figures of values in the rows that satisfy a condition; empty:
// in all rows.
func (c *Counter) aggregates(f Figures, condition string) []string {
	var columns []string
	for _, expression := range []string{f.High, f.Sum} {
		if expression == "" {
			continue
		}
		sum := c.Dialect.FilterAggregate("sum", expression, condition)
		if f.Whole != 0 && c.Text != nil {
			sum = c.Text(sum)
		}
		columns = append(columns, sum)
	}
	if f.Order != "" {
		columns = append(columns, c.Dialect.FilterAggregate("min", f.Order, condition), c.Dialect.FilterAggregate("max", f.Order, condition))
	}
	return columns
}

// read decodes the result of the statement.
func (c *Counter) read(row []query.Value, fields []series.Field, out *driver.Census) error {
	next := func() query.Value {
		v := row[0]
		row = row[1:]
		return v
	}
	contents := func(f Figures) (content driver.Content, err error) {
		if f.Sum != "" {
			high := query.Value{Kind: query.Int}
			if f.High != "" {
				high = next()
			}
			var sum query.Value
			if sum, err = wholeSum(high, next(), f.Whole); err != nil {
				return content, err
			}
			content.Sum = &sum
		}
		if f.Order != "" {
			least, most := next(), next()
			content.Min, content.Max = &least, &most
		}
		return content, nil
	}
	out.Rows = next().Int
	var err error
	if out.Times, err = contents(c.times()); err != nil {
		return fmt.Errorf("the sum of the times: %w", err)
	}
	for _, f := range fields {
		count := next().Int
		content, err := contents(c.figuresOf(&f, f.Name)) // the same figures as in the statement
		if err != nil {
			return fmt.Errorf("the sum of %s: %w", f.Name, err)
		}
		content.Count, content.Scaled = count, c.isScaled(&f)
		// With sums modulo 2^64, a sum can equal the value that stands for NULL.
		if c.Dialect.LeastIsNull && count > 0 && f.Type.UsesInts() && content.Sum != nil && content.Sum.Kind == query.Null {
			content.Sum = &query.Value{Kind: query.Int, Int: math.MinInt64}
		}
		out.Fields = append(out.Fields, content)
	}
	return nil
}

// wholeSum reduces a sum of whole numbers, in units of the given size, to 64 bits. It returns a sum of
// doubles, and NULL, unchanged.
func wholeSum(high, low query.Value, unit int64) (query.Value, error) {
	if unit == 0 || low.Kind == query.Null {
		return low, nil
	}
	a, err := modulo(high)
	if err != nil {
		return low, err
	}
	b, err := modulo(low)
	return query.Value{Kind: query.Int, Int: int64((a<<32 + b) * uint64(unit))}, err
}

// modulo returns a whole number modulo 2^64.
func modulo(v query.Value) (uint64, error) {
	switch v.Kind {
	case query.Int, query.Bool, query.Time, query.Date:
		return uint64(v.Int), nil
	case query.Text:
		if n, ok := new(big.Int).SetString(string(v.Text), 10); ok {
			low := new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1)) // in two's complement
			return low.Uint64(), nil
		}
	}
	return 0, fmt.Errorf("%s is not an integer", v)
}

func (c *Counter) namedTable(t *series.Table) *series.Table {
	if c.Named == nil {
		return t
	}
	return c.Named(t)
}

// ListSeries implements driver.DB.
func (c *Counter) ListSeries(ctx context.Context, s *series.Schema, t *series.Table, sink query.Sink) error {
	d, named := c.Dialect, c.namedTable(t)
	keys := make([]string, len(named.Tags))
	for i := range named.Tags {
		keys[i] = d.Ident(named.Tags[i].Key)
	}
	list, from := strings.Join(keys, ", "), d.Ident(named.Name)
	if !d.Wide {
		from = fmt.Sprintf("%s\nWHERE %s IN (SELECT %s FROM %s)", d.Ident(sql.TagsTable(s, t)), sql.IDColumn, sql.TagsIDColumn, from)
	}
	return c.Run(ctx, fmt.Sprintf("SELECT DISTINCT %s\nFROM %s", list, from), sink)
}
