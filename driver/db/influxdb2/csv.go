package influxdb2

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unsafe"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/query"
)

// reader decodes results in annotated CSV as they arrive: tables, each with a line of types, one of
// names, and rows. It decodes values in the buffer, without copying.
type reader struct {
	wanted []column
	sink   query.Sink // nil: rows are only counted
	rows   int64
	body   httpwire.Counted

	buffer     []byte
	start, end int  // the bytes that were read and not scanned yet
	over       bool // the result has ended

	kinds  []kind // of the table's columns; the first one holds annotations
	places []int  // indexes of the table's columns in the row; -1: not wanted
	head   bool   // the next line has the names
	failed bool   // the table describes an error
	row    []query.Value
	twice  [][2]int // wanted columns that are the same: the index of the value, and the index of its copy
	texts  []byte   // texts of the row that had to be unquoted
}

// kind is a type of annotated CSV.
type kind uint8

const (
	asText kind = iota
	asDouble
	asLong
	asUnsigned
	asBool
	asTime
)

var kinds = map[string]kind{
	"string": asText, "double": asDouble, "long": asLong, "unsignedLong": asUnsigned, "boolean": asBool,
	"dateTime:RFC3339": asTime, "dateTime:RFC3339Nano": asTime, "dateTime": asTime,
}

// firstBuffer is the initial size of the buffer, which grows for a longer line.
const firstBuffer = 64 << 10

// read decodes a result, and passes its rows with the wanted columns to the sink. A column that a table
// lacks is NULL in its rows. A truncated result is an error that wraps io.ErrUnexpectedEOF.
func (r *reader) read(body io.Reader, wanted []column, sink query.Sink) (driver.Cost, error) {
	r.wanted, r.sink, r.rows, r.body = wanted, sink, 0, httpwire.Counted{From: body}
	r.start, r.end, r.over, r.head, r.failed = 0, 0, false, false, false
	r.kinds, r.places = r.kinds[:0], r.places[:0]
	if r.buffer == nil {
		r.buffer = make([]byte, firstBuffer)
	}
	r.row, r.twice = r.row[:0], r.twice[:0]
	for i := range wanted {
		r.row = append(r.row, query.Value{})
		if at := slices.IndexFunc(wanted, func(c column) bool { return c.name == wanted[i].name }); at < i {
			r.twice = append(r.twice, [2]int{at, i})
		}
	}
	var err error
	for err == nil {
		var line []byte
		if line, err = r.line(); err == nil {
			err = r.take(line)
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the answer was cut off after %d rows: the server or the connection broke down: %w", r.rows, io.ErrUnexpectedEOF)
	}
	if err == io.EOF {
		err = nil
	}
	return driver.Cost{Rows: r.rows, Bytes: r.body.N}, err
}

// line returns the next line without its end. A line break within quotes is part of the line.
func (r *reader) line() ([]byte, error) {
	quoted, at := false, r.start
	for {
		for rest := r.buffer[at:r.end]; len(rest) > 0; {
			n := bytes.IndexByte(rest, '\n')
			part := rest
			if n >= 0 {
				part = rest[:n]
			}
			quoted = quoted != (bytes.Count(part, []byte{'"'})%2 == 1)
			at += len(part)
			if n < 0 {
				break
			}
			if !quoted {
				line := r.buffer[r.start:at]
				r.start = at + 1
				return bytes.TrimSuffix(line, []byte{'\r'}), nil
			}
			at++
			rest = rest[n+1:]
		}
		at -= r.start
		if err := r.fill(); err != nil {
			return nil, err
		}
		at += r.start
	}
}

// fill reads more bytes after the bytes that were not scanned yet.
func (r *reader) fill() error {
	if r.start > 0 {
		r.end = copy(r.buffer, r.buffer[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buffer) {
		r.buffer = append(r.buffer, make([]byte, len(r.buffer))...)
	}
	n, err := r.body.Read(r.buffer[r.end:])
	r.end += n
	switch {
	case n > 0:
		return nil
	case err == io.EOF && r.end > 0, err == io.EOF && r.head: // within a line, or before the names of columns
		return io.ErrUnexpectedEOF
	}
	return err
}

// take processes a line.
func (r *reader) take(line []byte) error {
	switch {
	case len(line) == 0:
		return nil // between tables
	case line[0] == '#':
		return r.annotation(line)
	case line[0] != ',' || len(r.kinds) == 0:
		return fmt.Errorf("the answer has %q where a table was expected; is this InfluxDB 2?", httpwire.OneLine(string(line)))
	case r.head:
		return r.names(line)
	case r.failed:
		return r.failure(line)
	}
	return r.values(line)
}

// annotation reads the types of a table's columns.
func (r *reader) annotation(line []byte) error {
	r.kinds, r.head = r.kinds[:0], true
	return r.forEachField(line, func(i int, field []byte) error {
		if i == 0 {
			if string(field) != "#datatype" {
				return fmt.Errorf("the answer has an annotation %q that was not wanted", field)
			}
			r.kinds = append(r.kinds, asText)
			return nil
		}
		k, ok := kinds[string(field)]
		if !ok {
			return fmt.Errorf("the answer has a column of the type %q, which tsmark does not read", field)
		}
		r.kinds = append(r.kinds, k)
		return nil
	})
}

// names reads the names of a table's columns.
func (r *reader) names(line []byte) error {
	r.head, r.failed, r.places = false, false, r.places[:0]
	clear(r.row)
	if err := r.forEachField(line, func(i int, field []byte) error {
		place := -1
		if i > 0 {
			place = slices.IndexFunc(r.wanted, func(c column) bool { return c.name == string(field) })
		}
		r.failed = r.failed || i == 1 && string(field) == "error"
		r.places = append(r.places, place)
		return nil
	}); err != nil {
		return err
	}
	if len(r.places) != len(r.kinds) {
		return fmt.Errorf("a table of the answer has %d names of %d columns", len(r.places), len(r.kinds))
	}
	for i := range r.wanted {
		if r.wanted[i].zero {
			r.row[i] = query.Value{Kind: query.Int} // zero, unless the table has the column
		}
	}
	return nil
}

// failure reads an error that occurred after the server had begun to respond.
func (r *reader) failure(line []byte) error {
	err := errors.New("the server broke the answer off and did not say why")
	if broken := r.forEachField(line, func(i int, field []byte) error {
		if i == 1 {
			err = messageError(string(field))
		}
		return nil
	}); broken != nil {
		return broken
	}
	return err
}

// values decodes a row.
func (r *reader) values(line []byte) error {
	r.rows++
	r.body.Row()
	if r.sink == nil {
		return nil
	}
	r.texts = r.texts[:0]
	n, i := 0, 0
	for i <= len(line) {
		var field []byte
		var err error
		if field, i, err = r.field(line, i); err != nil {
			return err
		}
		if n == len(r.places) {
			return fmt.Errorf("row %d of the answer has more than %d values, as many as there are columns", r.rows, n)
		}
		if place := r.places[n]; place >= 0 {
			if r.row[place], err = r.value(r.kinds[n], field, r.wanted[place].zero); err != nil {
				return fmt.Errorf("column %s of row %d of the answer: %w", r.wanted[place].name, r.rows, err)
			}
		}
		n++
	}
	if n != len(r.places) {
		return fmt.Errorf("row %d of the answer has %d values in %d columns", r.rows, n, len(r.places))
	}
	for _, places := range r.twice {
		r.row[places[1]] = r.row[places[0]]
	}
	return r.sink.Row(r.row)
}

// value decodes a field.
func (r *reader) value(k kind, field []byte, zero bool) (query.Value, error) {
	if len(field) == 0 {
		if zero {
			return query.Value{Kind: query.Int}, nil
		}
		return query.Value{}, nil
	}
	// ParseInt and ParseFloat retain the text only in their errors.
	digits := unsafe.String(unsafe.SliceData(field), len(field))
	switch k {
	case asText:
		return query.Value{Kind: query.Text, Text: field}, nil
	case asDouble:
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return query.Value{}, fmt.Errorf("%q is not a float64", field)
		}
		return query.Value{Kind: query.Float, Float: v}, nil
	case asBool:
		v := query.Value{Kind: query.Bool}
		switch digits {
		case "true":
			v.Int = 1
		case "false":
		default:
			return query.Value{}, fmt.Errorf("%q is not a boolean", field)
		}
		return v, nil
	case asTime:
		ns, err := jsonrows.ParseTime(field)
		return query.Value{Kind: query.Time, Int: ns}, err
	}
	v, err := strconv.ParseInt(digits, 10, 64) // results have no unsigned values of 64 bits
	if err != nil {
		return query.Value{}, fmt.Errorf("%q is not a 64-bit integer", field)
	}
	return query.Value{Kind: query.Int, Int: v}, nil
}

// forEachField calls a function for each field of a line.
func (r *reader) forEachField(line []byte, take func(int, []byte) error) error {
	r.texts = r.texts[:0]
	for n, i := 0, 0; i <= len(line); n++ {
		field, next, err := r.field(line, i)
		if err == nil {
			err = take(n, field)
		}
		if err != nil {
			return err
		}
		i = next
	}
	return nil
}

// field returns the field of a line that begins at i, and where the next one begins, which is beyond
// the end of the line after the last field.
func (r *reader) field(line []byte, i int) (field []byte, next int, err error) {
	if i == len(line) || line[i] != '"' {
		n := bytes.IndexByte(line[i:], ',')
		if n < 0 {
			return line[i:], len(line) + 1, nil
		}
		return line[i : i+n], i + n + 1, nil
	}
	i++
	start := len(r.texts)
	for {
		n := bytes.IndexByte(line[i:], '"')
		if n < 0 {
			return nil, 0, errors.New("the answer has a text whose quotes do not end")
		}
		r.texts = append(r.texts, line[i:i+n]...)
		i += n + 1
		switch {
		case i == len(line):
			return r.texts[start:], len(line) + 1, nil
		case line[i] == ',':
			return r.texts[start:], i + 1, nil
		case line[i] != '"':
			return nil, 0, errors.New("the answer has something behind the quotes of a text")
		}
		r.texts = append(r.texts, '"')
		i++
	}
}
