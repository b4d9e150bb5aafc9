package jsonrows

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tsmark/tsmark/query"
)

// Type is the type of a column's values if JSON does not determine it. It determines texts, NULLs and
// booleans, which become 0 and 1.
type Type uint8

// The types.
const (
	// Number is a whole number if it is written as one that fits 64 bits, otherwise a double. A double
	// written as a whole number is the one nearest to that number.
	Number       Type = iota
	Int               // a whole number, and nothing else
	Float             // a double
	Float32           // the double that equals a single
	Time              // a text that ParseTime reads
	Nanoseconds       // a time as a number, since 1970
	Milliseconds      // likewise
	Count             // Number, but NULL is 0
	Text              // a text; any other value as its JSON text
	Hex               // a text with two digits for each byte, which are the value
	Hidden            // not part of the rows
)

// maxLabels is the most labels of a series that are read.
const maxLabels = 100_000

// Label reads a value that every row has from now on, until NoLabels.
func (r *Reader) Label() error {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return err
	}
	if len(r.labels) == maxLabels {
		return fmt.Errorf("the answer has a series of more than %d tags, and was read no further", maxLabels)
	}
	var v query.Value
	v, r.labelText, err = textOf(r.labelText, raw)
	if r.EmptyIsNull && len(v.Text) == 0 {
		v = query.Value{}
	}
	r.labels = append(r.labels, v)
	return err
}

// NoLabels begins rows of another series.
func (r *Reader) NoLabels() { r.labels, r.labelText = r.labels[:0], r.labelText[:0] }

// Row reads an array of values as a row, and gives it to the sink. The decoder
// reads it at once, which is several times as fast as value by value.
func (r *Reader) Row() error {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() != jsontext.KindBeginArray {
		return fmt.Errorf("the answer has %v where a row was expected; is this %s?", raw.Kind(), r.System)
	}
	r.Rows++
	r.body.Row()
	if r.sink == nil {
		return nil
	}
	r.row, r.texts = r.row[:0], r.texts[:0]
	at, rest := 0, skipBlanks(raw[1:])
	for ; ; at++ {
		if at == r.LabelsBehind {
			r.row = append(r.row, r.labels...)
		}
		if rest[0] == ']' {
			break
		}
		if at == len(r.Columns) {
			return errors.New("a row of the answer has more values than there are columns")
		}
		n := length(rest)
		if kind := r.Columns[at]; kind != Hidden {
			v, err := r.value(kind, rest[:n])
			if err != nil {
				return fmt.Errorf("column %d of row %d of the answer: %w", at+1, r.Rows, err)
			}
			r.row = append(r.row, v)
		}
		if rest = skipBlanks(rest[n:]); rest[0] == ',' {
			rest = skipBlanks(rest[1:])
		}
	}
	if at != len(r.Columns) {
		return fmt.Errorf("a row of the answer has %d values in %d columns", at, len(r.Columns))
	}
	return r.sink.Row(r.row)
}

// skipBlanks drops leading blanks from a row that the decoder has validated.
func skipBlanks(row jsontext.Value) jsontext.Value {
	for row[0] <= ' ' {
		row = row[1:]
	}
	return row
}

// length returns the length of the first value in the rest of a row. For an array or object, which
// value refuses, it is the length of the first character.
func length(row jsontext.Value) int {
	switch row[0] {
	case '[', '{':
		return 1
	case '"':
		for i := 1; ; i++ {
			switch row[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
	}
	for i := 1; ; i++ {
		if c := row[i]; c == ',' || c == ']' || c == '}' || c <= ' ' {
			return i
		}
	}
}

// value converts a JSON value. Texts are stored in r.texts.
func (r *Reader) value(kind Type, raw jsontext.Value) (query.Value, error) {
	switch raw[0] {
	case 'n':
		if kind == Count {
			return query.Value{Kind: query.Int}, nil
		}
		return query.Value{}, nil
	case 't', 'f':
		if kind != Text {
			v := query.Value{Kind: query.Int}
			if raw[0] == 't' {
				v.Int = 1
			}
			return v, nil
		}
	case '"':
		var v query.Value
		var err error
		v, r.texts, err = textOf(r.texts, raw)
		switch {
		case err != nil:
		case kind == Time:
			ns, err := ParseTime(v.Text)
			return query.Value{Kind: query.Time, Int: ns}, err
		case kind == Hex:
			n, err := hex.Decode(v.Text, v.Text)
			v.Text = v.Text[:n]
			return v, err
		}
		return v, err
	case '[', '{':
		return query.Value{}, fmt.Errorf("an array or object for a value, which tsmark does not read; is this %s?", r.System)
	}
	if kind == Text {
		start := len(r.texts)
		r.texts = append(r.texts, raw...)
		return query.Value{Kind: query.Text, Text: r.texts[start:]}, nil
	}
	// ParseInt and ParseFloat keep nothing of the text but in their errors.
	digits := unsafe.String(unsafe.SliceData(raw), len(raw))
	if kind == Int || kind != Float && kind != Float32 && isInteger(raw) {
		n, err := strconv.ParseInt(digits, 10, 64)
		switch {
		case err == nil && kind == Nanoseconds:
			return query.Value{Kind: query.Time, Int: n}, nil
		case err == nil && kind == Milliseconds:
			return query.Value{Kind: query.Time, Int: n * int64(time.Millisecond)}, nil
		case err == nil:
			return query.Value{Kind: query.Int, Int: n}, nil
		case kind == Int:
			return query.Value{}, fmt.Errorf("%s is not a 64-bit integer", raw.Clone())
		}
	}
	bits := 64
	if kind == Float32 { // the shortest digits that identify a single
		bits = 32
	}
	v, err := strconv.ParseFloat(digits, bits)
	if err != nil {
		return query.Value{}, fmt.Errorf("the number %s: out of range", raw.Clone())
	}
	return query.Value{Kind: query.Float, Float: v}, nil
}

// isInteger reports whether a number has neither a point nor an exponent.
func isInteger(digits jsontext.Value) bool {
	for _, c := range digits {
		if c == '.' || c|0x20 == 'e' {
			return false
		}
	}
	return true
}

// textOf appends a text to the texts of a row.
func textOf(texts []byte, raw jsontext.Value) (query.Value, []byte, error) {
	start := len(texts)
	texts, err := jsontext.AppendUnquote(texts, raw)
	if err != nil {
		return query.Value{}, texts, err
	}
	return query.Value{Kind: query.Text, Text: texts[start:]}, texts, nil
}
