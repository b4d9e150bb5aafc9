package mysql

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// cells receives rows of the database's table, value by value.
type cells interface {
	begin() // a row
	null()
	integer(v int64)
	double(v float64)
	timestamp(ns int64)
	day(days int64)
	text(c *series.Column, row, length int) // as AppendText of the column
	series(s uint32) error                  // its number, or its tags in wide tables
	name(f int)                             // name of a field in a narrow table
	end()
}

// encoder encodes the values of a table in the order of its columns.
type encoder struct {
	table  *series.Table
	narrow bool
	whole  bool  // times are integers
	places []int // indexes of fields' values among the columns of values, in narrow tables
	values int   // number of columns of values
}

func newEncoder(o driver.Options, t *series.Table) *encoder {
	e := &encoder{table: t, narrow: o[optionLayout] == layoutNarrow, whole: o[optionTimes] == timesBigint}
	if d := newDialect(o); e.narrow {
		columns := d.NarrowColumns(t)
		e.values = len(columns)
		for _, f := range t.Fields {
			e.places = append(e.places, slices.Index(columns, d.NarrowColumn(f.Type)))
		}
	}
	return e
}

// columns are how many the table has.
func (e *encoder) columns(o driver.Options) int {
	switch o[optionLayout] {
	case layoutWide:
		return 1 + len(e.table.Tags) + len(e.table.Fields)
	case layoutNarrow:
		return 3 + e.values
	}
	return 2 + len(e.table.Fields)
}

// row passes a row of the run on, and returns the number of rows that it becomes in the database.
func (e *encoder) row(to cells, run *series.Run, row int) (stored int64, err error) {
	if e.narrow {
		return e.encodeNarrow(to, run, row)
	}
	if err := e.head(to, run, row); err != nil {
		return 0, err
	}
	for f := range run.Columns {
		if run.Lacks(f, row) {
			to.null()
			continue
		}
		e.value(to, f, run, row)
	}
	to.end()
	return 1, nil
}

// encodeNarrow passes each value of a row on as a row of the database. The first field has one even if it is
// NULL: a row without values is a row too.
func (e *encoder) encodeNarrow(to cells, run *series.Run, row int) (stored int64, err error) {
	for f := range run.Columns {
		lacks := run.Lacks(f, row)
		if lacks && f > 0 {
			continue
		}
		if err := e.head(to, run, row); err != nil {
			return stored, err
		}
		to.name(f)
		for column := range e.values {
			if lacks || column != e.places[f] {
				to.null()
				continue
			}
			e.value(to, f, run, row)
		}
		to.end()
		stored++
	}
	return stored, nil
}

// head passes on the first values of each row of the database.
func (e *encoder) head(to cells, run *series.Run, row int) error {
	to.begin()
	e.time(to, run.Times[row])
	return to.series(run.Series[row])
}

// value passes on a value that is not NULL. A single is passed as the double that equals it.
func (e *encoder) value(to cells, f int, run *series.Run, row int) {
	c, field := &run.Columns[f], &e.table.Fields[f]
	switch field.Type {
	case series.Float, series.Float32:
		to.double(c.Floats[row])
	case series.Bool, series.Int, series.Int32:
		to.integer(c.Ints[row])
	case series.Timestamp:
		e.time(to, c.Ints[row])
	case series.Date:
		to.day(c.Ints[row])
	default:
		to.text(c, row, field.Length)
	}
}

func (e *encoder) time(to cells, ns int64) {
	if e.whole {
		to.integer(ns)
		return
	}
	to.timestamp(ns)
}

// wide reports whether rows have the tags.
func wide(o driver.Options) bool { return o[optionLayout] == layoutWide }

// numeric returns the value of a tag whose values are numbers.
func numeric(t *series.Tag, s uint32, value []byte) (float64, error) {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return 0, fmt.Errorf("tag %s of series %d: %w", t.Key, s, err)
	}
	return n, nil
}
