package iotdb

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/byseries"
	"github.com/tsmark/tsmark/series"
)

// view returns bytes as a text without copying; it is valid until they change.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// encoder appends the columns of a tablet: the values of each column, and after all columns, bitmaps of
// the missing values.
type encoder struct {
	unit  int64 // of times, in nanoseconds
	held  map[series.Type]driver.Stored
	nulls []byte // of a column, bit r%8 of byte r/8, from the lowest
	masks []byte // of the columns so far, each after a flag whether it has any
	any   bool
	text  []byte
}

// begin begins a tablet.
func (e *encoder) begin() { e.masks, e.any = e.masks[:0], false }

// times appends the times of rows.
func (e *encoder) times(dst []byte, runs []*series.Run, places []byseries.Place) ([]byte, error) {
	for _, p := range places {
		ns := runs[p.Run].Times[p.Row]
		at := ns / e.unit
		if at*e.unit != ns {
			return dst, fmt.Errorf("a row's time, %s, is not a multiple of %v", time.Unix(0, ns).UTC().Format(time.RFC3339Nano), time.Duration(e.unit))
		}
		dst = binary.BigEndian.AppendUint64(dst, uint64(at))
	}
	return dst, nil
}

// column begins a column of the given number of rows.
func (e *encoder) column(rows int) {
	n := rows/8 + 1
	e.nulls = slices.Grow(e.nulls[:0], n)[:n]
	clear(e.nulls)
}

func (e *encoder) null(row int) { e.nulls[row>>3] |= 1 << (row & 7) }

// end ends a column.
func (e *encoder) end(nulls bool) {
	if !nulls {
		e.masks = append(e.masks, 0)
		return
	}
	e.any = true
	e.masks = append(append(e.masks, 1), e.nulls...)
}

// finish appends the bitmaps of missing values, if there are any.
func (e *encoder) finish(dst []byte) []byte {
	if e.any {
		dst = append(dst, e.masks...)
	}
	return dst
}

// field appends the values of a field.
func (e *encoder) field(dst []byte, runs []*series.Run, places []byseries.Place, f int) []byte {
	e.column(len(places))
	nulls := false
	table := runs[0].Table
	kind, length := table.Fields[f].Type, table.Fields[f].Length
	whole := e.held[kind].As == "INT64"
	for i, p := range places {
		run := runs[p.Run]
		c := &run.Columns[f]
		if run.Lacks(f, int(p.Row)) {
			nulls = true
			e.null(i)
			dst = appendNothing(dst, kind)
			continue
		}
		switch kind {
		case series.Float:
			dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(c.Floats[p.Row]))
		case series.Int:
			dst = binary.BigEndian.AppendUint64(dst, uint64(c.Ints[p.Row]))
		case series.Timestamp:
			v := c.Ints[p.Row]
			if !whole {
				v /= e.unit
			}
			dst = binary.BigEndian.AppendUint64(dst, uint64(v))
		case series.Float32:
			dst = binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(c.Floats[p.Row])))
		case series.Int32:
			dst = binary.BigEndian.AppendUint32(dst, uint32(c.Ints[p.Row]))
		case series.Bool:
			dst = append(dst, byte(c.Ints[p.Row]))
		case series.Date:
			dst = binary.BigEndian.AppendUint32(dst, uint32(calendar(c.Ints[p.Row])))
		default:
			e.text = c.AppendText(e.text[:0], int(p.Row), length)
			dst = appendText(dst, e.text)
		}
	}
	e.end(nulls)
	return dst
}

// appendNothing appends the placeholder of a missing value.
func appendNothing(dst []byte, kind series.Type) []byte {
	switch kind {
	case series.Bool:
		return append(dst, 0)
	case series.Float, series.Int, series.Timestamp:
		return binary.BigEndian.AppendUint64(dst, 0)
	case series.Date:
		return binary.BigEndian.AppendUint32(dst, 19700101)
	}
	return binary.BigEndian.AppendUint32(dst, 0)
}

func appendText(dst, text []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(text))), text...)
}

// calendar converts days since 1970 to the format of IoTDB's DATE: 20240229.
func calendar(days int64) int32 {
	year, month, day := time.Unix(days*86400, 0).UTC().Date()
	return int32(year*10000 + int(month)*100 + day)
}

// tag appends the values of a tag, equal for all rows of a series: texts, or numbers.
func (e *encoder) tag(dst []byte, runs []*series.Run, places []byseries.Place, t *series.Tag) ([]byte, error) {
	e.column(len(places))
	nulls, known, has, numeric := false, false, false, t.Numeric()
	var before uint32
	var bits uint64
	for i, p := range places {
		if s := runs[p.Run].Series[p.Row]; !known || s != before {
			before, known, bits = s, true, 0
			if e.text, has = t.Values.Append(e.text[:0], s); has && numeric {
				v, err := strconv.ParseFloat(view(e.text), 64)
				if err != nil {
					return dst, fmt.Errorf("the tag %s of series %d is %q, not a number", t.Key, s, e.text)
				}
				bits = math.Float64bits(v)
			}
			if !has {
				e.text = e.text[:0]
			}
		}
		if !has {
			nulls = true
			e.null(i)
		}
		if numeric {
			dst = binary.BigEndian.AppendUint64(dst, bits)
		} else {
			dst = appendText(dst, e.text)
		}
	}
	e.end(nulls)
	return dst, nil
}

// rows appends the measurement that every row has.
func (e *encoder) rows(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, 1)
	}
	e.end(false)
	return dst
}
