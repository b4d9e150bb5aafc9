package iotdb

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// view returns bytes as a text without a copy; it is good until they change.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// place is a row of a batch.
type place struct {
	run int32
	row int32
}

// sorter brings the rows of a batch's tables into the order of tablets: device by
// device, each in the order of times. Rows of one time stay as they came: of them the
// last counts. Its memory is used again.
type sorter struct {
	counts  []int32 // of each series its rows, and then where its next one goes
	devices []device
	places  []place
}

// device is a series of a batch and its rows.
type device struct {
	series      uint32
	first, last int
}

func newSorter(s *series.Schema) *sorter { return &sorter{counts: make([]int32, s.Series)} }

// sort sorts the rows of runs of one table.
func (s *sorter) sort(runs []*series.Run) error {
	s.devices = s.devices[:0]
	rows := 0
	for _, run := range runs {
		rows += run.Rows()
		for _, of := range run.Series {
			if int(of) >= len(s.counts) {
				return fmt.Errorf("a row is of series %d, and the dataset has %d", of, len(s.counts))
			}
			if s.counts[of] == 0 {
				s.devices = append(s.devices, device{series: of})
			}
			s.counts[of]++
		}
	}
	if cap(s.places) < rows {
		s.places = make([]place, rows)
	}
	s.places = s.places[:rows]
	at := 0
	for i := range s.devices {
		d := &s.devices[i]
		d.first = at
		at += int(s.counts[d.series])
		d.last = at
		s.counts[d.series] = int32(d.first)
	}
	for r, run := range runs {
		for row, of := range run.Series {
			s.places[s.counts[of]] = place{int32(r), int32(row)}
			s.counts[of]++
		}
	}
	for i := range s.devices {
		d := &s.devices[i]
		s.counts[d.series] = 0
		own := s.places[d.first:d.last]
		byTime := func(a, b place) int { return cmp.Compare(runs[a.run].Times[a.row], runs[b.run].Times[b.row]) }
		if !slices.IsSortedFunc(own, byTime) {
			slices.SortStableFunc(own, byTime)
		}
	}
	return nil
}

// encoder appends the columns of a tablet: the values of a column one behind the
// other, and behind all columns which of their values are missing.
type encoder struct {
	unit  int64 // of times, in nanoseconds
	held  map[series.Type]driver.Stored
	nulls []byte // of a column, bit r%8 of byte r/8, from the lowest
	masks []byte // of the columns so far, each behind whether it has any
	any   bool
	text  []byte
}

// begin begins a tablet.
func (e *encoder) begin() { e.masks, e.any = e.masks[:0], false }

// times appends the times of rows.
func (e *encoder) times(dst []byte, runs []*series.Run, places []place) ([]byte, error) {
	for _, p := range places {
		ns := runs[p.run].Times[p.row]
		at := ns / e.unit
		if at*e.unit != ns {
			return dst, fmt.Errorf("a row's time, %s, is no multiple of %v", time.Unix(0, ns).UTC().Format(time.RFC3339Nano), time.Duration(e.unit))
		}
		dst = binary.BigEndian.AppendUint64(dst, uint64(at))
	}
	return dst, nil
}

// column begins a column of so many rows.
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

// finish appends which values are missing, if any are.
func (e *encoder) finish(dst []byte) []byte {
	if e.any {
		dst = append(dst, e.masks...)
	}
	return dst
}

// field appends the values of a field.
func (e *encoder) field(dst []byte, runs []*series.Run, places []place, f int) []byte {
	e.column(len(places))
	nulls := false
	table := runs[0].Table
	kind, length := table.Fields[f].Type, table.Fields[f].Length
	whole := e.held[kind].As == "INT64"
	for i, p := range places {
		run := runs[p.run]
		c := &run.Columns[f]
		if run.Lacks(f, int(p.row)) {
			nulls = true
			e.null(i)
			dst = appendNothing(dst, kind)
			continue
		}
		switch kind {
		case series.Float:
			dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(c.Floats[p.row]))
		case series.Int:
			dst = binary.BigEndian.AppendUint64(dst, uint64(c.Ints[p.row]))
		case series.Timestamp:
			v := c.Ints[p.row]
			if !whole {
				v /= e.unit
			}
			dst = binary.BigEndian.AppendUint64(dst, uint64(v))
		case series.Float32:
			dst = binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(c.Floats[p.row])))
		case series.Int32:
			dst = binary.BigEndian.AppendUint32(dst, uint32(c.Ints[p.row]))
		case series.Bool:
			dst = append(dst, byte(c.Ints[p.row]))
		case series.Date:
			dst = binary.BigEndian.AppendUint32(dst, uint32(calendar(c.Ints[p.row])))
		default:
			e.text = series.AppendText(e.text[:0], c.Ints[p.row], length)
			dst = appendText(dst, e.text)
		}
	}
	e.end(nulls)
	return dst
}

// appendNothing appends what stands in the place of a missing value.
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

// calendar returns days since 1970 as IoTDB's DATE has them: 20240229.
func calendar(days int64) int32 {
	year, month, day := time.Unix(days*86400, 0).UTC().Date()
	return int32(year*10000 + int(month)*100 + day)
}

// tag appends the values of a tag, the same for all rows of a series: texts, or numbers.
func (e *encoder) tag(dst []byte, runs []*series.Run, places []place, t *series.Tag) ([]byte, error) {
	e.column(len(places))
	nulls, known, has, numeric := false, false, false, t.Numeric()
	var before uint32
	var bits uint64
	for i, p := range places {
		if s := runs[p.run].Series[p.row]; !known || s != before {
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
