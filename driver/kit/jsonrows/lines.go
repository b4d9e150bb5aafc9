package jsonrows

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tsmark/tsmark/query"
)

// Lines reads objects to the end of the answer, each a row whose members are called as
// the columns, in their order. A column without a member is NULL.
func (r *Reader) Lines(names []string) error {
	quoted := make([][]byte, len(names))
	for i, name := range names {
		var err error
		if quoted[i], err = jsontext.AppendQuote(nil, name); err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
	}
	for {
		raw, err := r.decoder.ReadValue()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = r.line(raw, quoted)
		}
		if err != nil {
			return err
		}
	}
}

// line reads an object as a row, and gives it to the sink.
func (r *Reader) line(raw jsontext.Value, names [][]byte) error {
	if raw.Kind() != jsontext.KindBeginObject {
		return fmt.Errorf("the answer has %v where a row was expected; is this %s?", raw.Kind(), r.System)
	}
	r.Rows++
	r.body.Row()
	if r.sink == nil {
		return nil
	}
	r.row, r.texts = r.row[:0], r.texts[:0]
	for rest := skipBlanks(raw[1:]); rest[0] != '}'; {
		n := length(rest)
		key := rest[:n]
		rest = skipBlanks(skipBlanks(rest[n:])[1:]) // past the colon
		for len(r.row) < len(names) && !bytes.Equal(key, names[len(r.row)]) {
			r.row = append(r.row, query.Value{})
		}
		if len(r.row) == len(names) {
			return fmt.Errorf("a row of the answer has a column %s, which is not the next of %s", key, bytes.Join(names, []byte(", ")))
		}
		n = length(rest)
		v, err := r.value(r.Columns[len(r.row)], rest[:n])
		if err != nil {
			return fmt.Errorf("column %d of row %d of the answer: %w", len(r.row)+1, r.Rows, err)
		}
		r.row = append(r.row, v)
		if rest = skipBlanks(rest[n:]); rest[0] == ',' {
			rest = skipBlanks(rest[1:])
		}
	}
	for len(r.row) < len(names) {
		r.row = append(r.row, query.Value{})
	}
	return r.sink.Row(r.row)
}
