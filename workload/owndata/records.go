//go:build !light

package owndata

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/columnar"
	"github.com/tsmark/tsmark/workload/file/input"
)

// checkFormat returns an error for a format that this build of tsmark cannot read.
func checkFormat(string) error { return nil }

// openRecords opens a file of record batches.
func openRecords(f input.File, l *layout, t *input.Table) (*opened, error) {
	source, closer, err := columnar.Open(f, l.format, func(name string) bool {
		_, isTag := t.TagAt[name]
		_, isField := t.FieldAt[name]
		return name == l.time || isTag || isField
	})
	if err != nil {
		return nil, err
	}
	r, err := columnar.NewRows(source, t, l.time)
	if err != nil {
		closer.Close()
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return &opened{r, f.Name, closer}, nil
}

// group is the row group that the last rows are of; 0 where a file has none.
func (o *opened) group() int {
	if r, ok := o.rows.(*columnar.Rows); ok {
		return r.Filled
	}
	return 0
}

// restrict has the row groups read that are wanted, and no others.
func (o *opened) restrict(wanted func(group int) bool) {
	if r, ok := o.rows.(*columnar.Rows); ok {
		r.Source.Restrict(wanted)
	}
}

// recordColumns returns the names of the columns of a file of record batches.
func recordColumns(f input.File, format string) ([]string, error) {
	source, closer, err := columnar.Open(f, format, nil)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	schema, err := source.Schema()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, field := range schema.Fields() {
		names = append(names, field.Name)
	}
	return names, nil
}

// records looks at a file of record batches: at its types, at the values of texts, and
// at numbers, which may be times.
func (p *profiler) records(f input.File, one *profile) (err error) {
	source, closer, err := columnar.Open(f, p.layout.format, nil)
	if err != nil {
		return err
	}
	defer closer.Close()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s %s", f.Name, columnar.ReadProblem(r))
		}
	}()
	schema, err := source.Schema()
	if err != nil {
		return err
	}
	for _, field := range schema.Fields() {
		if err := p.addColumn(one, []byte(field.Name)); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if one.byName[field.Name] != nil {
			return fmt.Errorf("%s has two columns %q; write the file again with other names", f.Name, field.Name)
		}
		c := one.column(field.Name)
		c.typed, c.unit = columnar.ColumnType(field.Type)
		if c.typed == 0 && field.Type.ID() != arrow.NULL {
			c.left = fmt.Sprintf("its type %s in %s cannot be loaded", field.Type, f.Name)
		}
		switch of := field.Type.(type) {
		case *arrow.TimestampType:
			if of.TimeZone == "" {
				c.zoneless = -1 // all there are
			}
		case arrow.DecimalType:
			c.digits = of.GetPrecision()
		}
	}
	reader, read := columnar.Rows{}, make(map[string]bool)
	for {
		batch, group, first, err := source.Next()
		p.at.RowGroup, p.at.Row = group, first
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			at := p.at
			at.Err = err
			return &at
		}
		for i := range int(batch.NumCols()) {
			c, column := one.column(batch.ColumnName(i)), batch.Column(i)
			read[c.name] = true
			p.at.Row = first
			if c.left != "" || c.numbers(column, p) {
				c.values += int64(column.Len() - column.NullN())
				continue
			}
			for row := range column.Len() {
				if column.IsNull(row) {
					continue
				}
				text, err := reader.TextOf(column, row)
				if err != nil {
					return err
				}
				if p.at.Row = first + int64(row); !p.absent(text) {
					c.add(text, p)
				} else if len(text) == 0 {
					c.addEmpty()
				}
			}
		}
		one.rows += batch.NumRows()
		p.progress(int(batch.NumRows()))
		if err := p.ctx.Err(); err != nil {
			return err
		}
	}
	for _, c := range one.columns {
		if c.typed == series.Timestamp && c.values == 0 && !read[c.name] {
			c.values = one.rows // INT96, which columnar.Open leaves out
		}
		if c.zoneless < 0 {
			c.zoneless = c.values
		}
	}
	return nil
}

// numbers examines a column of a record batch without texts, and the minimum and maximum of a
// numeric one, since the numbers may be times. It returns false if the column has texts.
func (c *columnProfile) numbers(column arrow.Array, p *profiler) bool {
	switch a := column.(type) {
	case *array.Int64:
		bounds(c, a, a.Values())
	case *array.Int32:
		bounds(c, a, a.Values())
	case *array.Int16:
		bounds(c, a, a.Values())
	case *array.Int8:
		bounds(c, a, a.Values())
	case *array.Uint32:
		bounds(c, a, a.Values())
	case *array.Uint16:
		bounds(c, a, a.Values())
	case *array.Uint8:
		bounds(c, a, a.Values())
	case *array.Uint64:
		for row, v := range a.Values() {
			switch {
			case a.IsNull(row):
			case v <= math.MaxInt64:
				c.integer(int64(v))
			case c.rounded == nil:
				at := p.at
				at.Row += int64(row)
				c.typed, c.rounded = series.Float, &large{strconv.FormatUint(v, 10), at}
			}
		}
	case *array.Float64:
		for row, v := range a.Values() {
			if !a.IsNull(row) {
				c.float(v)
			}
		}
	case *array.Float32:
		for row, v := range a.Values() {
			if !a.IsNull(row) {
				c.float(float64(v))
			}
		}
	default:
		return !columnar.HoldsTexts(column.DataType())
	}
	return true
}

// bounds looks at whole numbers of at most 64 bits with a sign.
func bounds[T columnar.WholeNumber](c *columnProfile, of arrow.Array, values []T) {
	nulls := of.NullN() > 0
	for row, v := range values {
		if !nulls || !of.IsNull(row) {
			c.integer(int64(v))
		}
	}
}
