package postgres

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// copySignature begins COPY's binary format: a fixed text, no flags, no further header. copyTrailer
// ends it.
const (
	copySignature = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	copyTrailer   = "\xff\xff"
)

// encoder encodes rows of one table as tuples of COPY's binary format: the number of columns, then for
// each its length and its bytes; the length -1 means NULL.
type encoder struct {
	table   *series.Table
	dialect *sql.Dialect
	columns uint16
	wide    bool               // numbers of series have 64 bits
	tags    *sqlkit.Kept[byte] // of wide tables
	names   [][]byte           // of fields, in narrow tables
	places  []int              // indexes of fields' values among the columns of values, in narrow tables
}

func newEncoder(d *sql.Dialect, s *series.Schema, t *series.Table) *encoder {
	e := &encoder{table: t, dialect: d, wide: wideNumbers(s)}
	switch {
	case d.Wide:
		e.columns = uint16(1 + len(t.Tags) + len(t.Fields))
		e.tags = sqlkit.NewKept(s.Range(t), func(dst []byte, s uint32) ([]byte, error) { return appendTags(dst, t.Tags, s) })
	case d.Narrow:
		columns := d.NarrowColumns(t)
		e.columns = uint16(3 + len(columns))
		for _, f := range t.Fields {
			e.names = append(e.names, []byte(f.Name))
			e.places = append(e.places, slices.Index(columns, d.NarrowColumn(f.Type)))
		}
	default:
		e.columns = uint16(2 + len(t.Fields))
	}
	return e
}

const null = 0xffff_ffff // as a length

// epoch is 2000-01-01, from which PostgreSQL counts microseconds, in microseconds since 1970; epochDay
// is the same in days.
const (
	epoch    = 946_684_800_000_000
	epochDay = 10_957
)

// row appends a row of the run: one tuple, or several in narrow tables.
func (e *encoder) row(dst []byte, run *series.Run, row int) ([]byte, error) {
	micros := run.Times[row]/1000 - epoch
	if e.dialect.Narrow {
		return e.narrow(dst, run, row, micros), nil
	}
	be := binary.BigEndian
	dst = be.AppendUint16(dst, e.columns)
	dst = be.AppendUint64(be.AppendUint32(dst, 8), uint64(micros))
	s := run.Series[row]
	if e.dialect.Wide {
		tags, err := e.tags.Elements(s)
		if err != nil {
			return dst, err
		}
		dst = append(dst, tags...)
	} else {
		dst = e.id(dst, s)
	}
	for f := range run.Columns {
		c := &run.Columns[f]
		if c.Nulls != nil && run.Lacks(f, row) || e.table.Widths != nil && f >= e.table.Width(s) {
			dst = be.AppendUint32(dst, null)
			continue
		}
		field := &e.table.Fields[f]
		if field.Decimals > 0 && e.dialect.Decimal != "" {
			dst = appendNumeric(dst, c.Floats[row], field.Decimals)
			continue
		}
		if field.Type == series.Float { // the most frequent type
			dst = be.AppendUint64(be.AppendUint32(dst, 8), math.Float64bits(c.Floats[row]))
			continue
		}
		dst = e.value(dst, f, run, row)
	}
	return dst, nil
}

// id appends a series' number.
func (e *encoder) id(dst []byte, s uint32) []byte {
	if e.wide {
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(dst, 8), uint64(s))
	}
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(dst, 4), s)
}

// value appends a value that is not NULL, in a column of its own: its length and its bytes.
func (e *encoder) value(dst []byte, f int, run *series.Run, row int) []byte {
	be, field, c := binary.BigEndian, &e.table.Fields[f], &run.Columns[f]
	switch field.Type {
	case series.Bool:
		return append(be.AppendUint32(dst, 1), byte(c.Ints[row]))
	case series.Int32:
		return be.AppendUint32(be.AppendUint32(dst, 4), uint32(int32(c.Ints[row])))
	case series.Float32:
		return be.AppendUint32(be.AppendUint32(dst, 4), math.Float32bits(float32(c.Floats[row])))
	case series.Int:
		if e.dialect.Integers {
			return be.AppendUint64(be.AppendUint32(dst, 8), uint64(c.Ints[row]))
		}
		return e.double(dst, f, run, row)
	case series.Float:
		return e.double(dst, f, run, row)
	case series.Text, series.Blob:
		return c.AppendText(be.AppendUint32(dst, uint32(c.TextLength(row, field.Length))), row, field.Length)
	case series.Date:
		return be.AppendUint32(be.AppendUint32(dst, 4), uint32(int32(c.Ints[row]-epochDay)))
	}
	return be.AppendUint64(be.AppendUint32(dst, 8), uint64(c.Ints[row]/1000-epoch))
}

// appendNumeric appends a decimal that a double stands for, as a numeric: its number of digits to the base
// 10,000, the exponent of the first one, the sign, the number of decimal places, and the digits.
func appendNumeric(dst []byte, v float64, decimals int) []byte {
	behind := (decimals + 3) / 4 // digits behind the point
	units := int64(math.Round(math.Abs(v) * math.Pow10(decimals)))
	units *= int64(math.Pow10(4*behind - decimals))
	var digits [5]uint16 // the last one first
	n := 0
	for ; units > 0; n++ {
		digits[n] = uint16(units % 10_000)
		units /= 10_000
	}
	be, sign := binary.BigEndian, uint16(0)
	if v < 0 {
		sign = 0x4000
	}
	dst = be.AppendUint16(be.AppendUint32(dst, uint32(8+2*n)), uint16(n))
	dst = be.AppendUint16(be.AppendUint16(dst, uint16(int16(n-behind-1))), sign)
	dst = be.AppendUint16(dst, uint16(decimals))
	for n--; n >= 0; n-- {
		dst = be.AppendUint16(dst, digits[n])
	}
	return dst
}

// double appends a number as the double that equals it.
func (e *encoder) double(dst []byte, f int, run *series.Run, row int) []byte {
	c, v := &run.Columns[f], 0.0
	if e.table.Fields[f].Type.UsesInts() {
		v = float64(c.Ints[row])
	} else {
		v = c.Floats[row]
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(dst, 8), math.Float64bits(v))
}

// narrow appends a tuple for each value of a row. The first field has one even if it is NULL: a row
// without values is a row too.
func (e *encoder) narrow(dst []byte, run *series.Run, row int, micros int64) []byte {
	be := binary.BigEndian
	for f := range run.Columns {
		lacks := run.Lacks(f, row)
		if lacks && f > 0 {
			continue
		}
		dst = be.AppendUint16(dst, e.columns)
		dst = be.AppendUint64(be.AppendUint32(dst, 8), uint64(micros))
		dst = e.id(dst, run.Series[row])
		dst = append(be.AppendUint32(dst, uint32(len(e.names[f]))), e.names[f]...)
		for column := range int(e.columns) - 3 {
			if lacks || column != e.places[f] {
				dst = be.AppendUint32(dst, null)
				continue
			}
			dst = e.narrowValue(dst, f, run, row)
		}
	}
	return dst
}

// narrowValue appends a value that is not NULL to the column that fields of its type share.
func (e *encoder) narrowValue(dst []byte, f int, run *series.Run, row int) []byte {
	switch e.dialect.NarrowColumn(e.table.Fields[f].Type) {
	case sql.ValueColumn:
		return e.double(dst, f, run, row)
	case sql.WholeColumn:
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(dst, 8), uint64(run.Columns[f].Ints[row]))
	}
	return e.value(dst, f, run, row)
}

// tuples returns the number of tuples for a row.
func (e *encoder) tuples(run *series.Run, row int) int64 {
	if !e.dialect.Narrow {
		return 1
	}
	n := int64(1)
	for f := 1; f < len(run.Columns); f++ {
		if !run.Lacks(f, row) {
			n++
		}
	}
	return n
}

// appendTags appends the tags of a series as columns of a tuple.
func appendTags(dst []byte, tags []series.Tag, s uint32) ([]byte, error) {
	be := binary.BigEndian
	for i := range tags {
		at := len(dst)
		var ok bool
		dst = be.AppendUint32(dst, null)
		if dst, ok = tags[i].Values.Append(dst, s); !ok {
			continue
		}
		if tags[i].Numeric() {
			number, err := strconv.ParseFloat(string(dst[at+4:]), 64)
			if err != nil {
				return dst, fmt.Errorf("tag %s of series %d: %w", tags[i].Key, s, err)
			}
			dst = be.AppendUint64(dst[:at+4], math.Float64bits(number))
		}
		be.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst, nil
}
