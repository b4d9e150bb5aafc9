package influxdb

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/query"
)

// answer reads answers as they come: JSON documents, one or, where they are
// chunked, several, each with results of statements, these with series, and
// those with rows.
type answer struct {
	decoder *jsontext.Decoder
	body    *httpwire.Counted // that the decoder reads
	sink    query.Sink        // nil: rows are counted alone
	chunked bool
	rows    int64
	more    bool // the newest series or result said that more of it comes

	tags    []query.Value // of the series
	columns []column      // of the series
	row     []query.Value
	texts   []byte // of the row
	tagText []byte // of the tags
}

// column is what becomes of a column.
type column uint8

const (
	valueColumn column = iota
	timesColumn
	ownColumn  // is no part of the answer
	zeroColumn // NULL means 0
)

func (a *answer) reset(d *jsontext.Decoder, body *httpwire.Counted, sink query.Sink, chunked bool) {
	a.decoder, a.body, a.sink, a.chunked, a.rows, a.more = d, body, sink, chunked, 0, false
}

// document reads one document. io.EOF: there is none.
func (a *answer) document() error {
	return a.object(func(name string) error {
		switch name {
		case "results":
			return a.array(a.result)
		case "error":
			return a.failure()
		}
		return a.decoder.SkipValue()
	})
}

// result reads the result of a statement.
func (a *answer) result() error {
	a.more = false
	return a.object(func(name string) error {
		switch name {
		case "series":
			return a.array(a.series)
		case "error":
			return a.failure()
		case "partial":
			return a.partial()
		}
		return a.decoder.SkipValue()
	})
}

// partial reads the flag that says that the rest of a series comes with the
// next chunk. Without chunks there is no next one: the server's max-row-limit
// has cut the answer off, or the answer is whole and longer than 10,000 rows, of
// which InfluxDB 1.6.7 leaves the flag of the first ones. Nobody can tell.
func (a *answer) partial() error {
	token, err := a.decoder.ReadToken()
	if err != nil || token.Kind() != jsontext.KindTrue {
		return err
	}
	a.more = true
	if !a.chunked {
		return fmt.Errorf("the answer is marked as partial, as one of more than 10,000 rows is whether rows are missing or not; give %s=10000", optionChunked)
	}
	return nil
}

// failure reads an error within an answer.
func (a *answer) failure() error {
	token, err := a.decoder.ReadToken()
	if err != nil {
		return err
	}
	return said(token.String())
}

// maxTags is the most tags of a series that are read.
const maxTags = 100_000

// series reads the rows of a series.
func (a *answer) series() error {
	a.tags, a.tagText, a.columns = a.tags[:0], a.tagText[:0], a.columns[:0]
	return a.object(func(name string) error {
		switch name {
		case "tags":
			return a.object(func(string) error {
				value, err := a.decoder.ReadValue()
				if len(a.tags) == maxTags {
					err = fmt.Errorf("the answer has a series of more than %d tags, and was read no further", maxTags)
				}
				if err == nil {
					var v query.Value
					v, a.tagText, err = textValue(a.tagText, value)
					a.tags = append(a.tags, v)
				}
				return err
			})
		case "columns":
			return a.array(a.column)
		case "values":
			return a.array(a.values)
		case "partial":
			return a.partial()
		}
		return a.decoder.SkipValue()
	})
}

// column reads the name of a column.
func (a *answer) column() error {
	token, err := a.decoder.ReadToken()
	if err != nil {
		return err
	}
	kind := valueColumn
	switch name := token.String(); {
	case name == "time":
		kind = timesColumn
	case strings.HasPrefix(name, zeroPrefix):
		kind = zeroColumn
	case strings.HasPrefix(name, ownPrefix):
		kind = ownColumn
	}
	a.columns = append(a.columns, kind)
	return nil
}

// values reads a row: its time, the tags of the series, the other columns. The
// decoder reads a row at once, which is several times as fast as value by value.
func (a *answer) values() error {
	row, err := a.decoder.ReadValue()
	if err != nil {
		return err
	}
	if row.Kind() != jsontext.KindBeginArray {
		return fmt.Errorf("the answer has %v where a row was expected; is this InfluxDB?", row.Kind())
	}
	a.rows++
	a.body.Row()
	if a.sink == nil {
		return nil
	}
	a.row, a.texts = a.row[:0], a.texts[:0]
	if len(a.columns) == 0 || a.columns[0] != timesColumn {
		a.row = append(a.row, a.tags...)
	}
	rest, at := row[1:], 0
	for rest[0] != ']' {
		if at == len(a.columns) {
			return errors.New("a row of the answer has more values than there are columns")
		}
		if rest[0] == '[' || rest[0] == '{' {
			return errors.New("the answer has an array or object for a value; is this InfluxDB?")
		}
		n := valueLength(rest)
		if kind := a.columns[at]; kind != ownColumn {
			v, err := a.value(kind, rest[:n])
			if err != nil {
				return err
			}
			a.row = append(a.row, v)
			if at == 0 && kind == timesColumn {
				a.row = append(a.row, a.tags...)
			}
		}
		at++
		if rest = rest[n:]; rest[0] == ',' {
			rest = rest[1:]
		}
	}
	if at != len(a.columns) {
		return fmt.Errorf("a row of the answer has %d values in %d columns", at, len(a.columns))
	}
	return a.sink.Row(a.row)
}

// valueLength returns the length of the first value of a row that the decoder
// has found right, and that is no array or object. InfluxDB writes no blanks
// between values.
func valueLength(row jsontext.Value) int {
	if row[0] != '"' {
		return bytes.IndexAny(row, ",]")
	}
	for i := 1; ; i++ {
		switch row[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// value makes a value of what stands in the answer. A number without a point or
// an exponent may be a double all the same: where it is one, its nearest integer
// gives the same double back. Texts lie in a.texts.
func (a *answer) value(kind column, raw jsontext.Value) (query.Value, error) {
	switch raw.Kind() {
	case jsontext.KindNull:
		if kind == zeroColumn {
			return query.Value{Kind: query.Int}, nil
		}
		return query.Value{}, nil
	case jsontext.KindTrue:
		return query.Value{Kind: query.Int, Int: 1}, nil
	case jsontext.KindFalse:
		return query.Value{Kind: query.Int}, nil
	case jsontext.KindNumber:
		// ParseInt and ParseFloat keep nothing of the text but in their errors.
		digits := unsafe.String(unsafe.SliceData(raw), len(raw))
		if !bytes.ContainsAny(raw, ".eE") {
			if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
				if kind == timesColumn {
					return query.Value{Kind: query.Time, Int: n}, nil
				}
				return query.Value{Kind: query.Int, Int: n}, nil
			}
		}
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return query.Value{}, fmt.Errorf("the answer has the number %s: out of range", raw.Clone())
		}
		return query.Value{Kind: query.Float, Float: v}, nil
	case jsontext.KindString:
		var v query.Value
		var err error
		v, a.texts, err = textValue(a.texts, raw)
		return v, err
	}
	return query.Value{}, fmt.Errorf("%s is no value that tsmark knows", raw)
}

// textValue appends a text to those of a row. InfluxDB has no empty tags: where
// it writes one, the tag is missing.
func textValue(texts []byte, raw jsontext.Value) (query.Value, []byte, error) {
	start := len(texts)
	texts, err := jsontext.AppendUnquote(texts, raw)
	if err != nil || len(texts) == start {
		return query.Value{}, texts, err
	}
	return query.Value{Kind: query.Text, Text: texts[start:]}, texts, nil
}
