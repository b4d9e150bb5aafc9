// Package jsonrows reads answers in JSON as they come, to their last byte: a
// driver says where its system puts columns and rows, and nothing is kept but
// one row. Answers without an end end all the same, as httpwire.Counted has it.
package jsonrows

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/query"
)

// Reader reads one answer after the other. Its methods but Read are for
// the function that it calls.
type Reader struct {
	System  string // as errors name it
	Timeout string // the server's setting that cuts long answers off; empty: none
	// EmptyIsNull says that a label without characters is NULL.
	EmptyIsNull bool

	// What follows holds for the rows that come next, and is for the driver to set.

	Columns []Type // of the values of a row
	// LabelsBehind says behind how many columns of a row its labels stand.
	LabelsBehind int

	// Rows is how many rows came so far.
	Rows int64

	decoder   jsontext.Decoder
	body      httpwire.Counted
	sink      query.Sink // nil: rows are counted alone
	row       []query.Value
	texts     []byte // of the row
	labels    []query.Value
	labelText []byte
}

// Read reads an answer: the function reads its JSON, handing rows to the sink by
// Row, and what lies behind is read as well. A nil sink only has them counted. An
// answer that ends too early is an error that wraps io.ErrUnexpectedEOF.
func (r *Reader) Read(body io.Reader, sink query.Sink, answer func() error) (driver.Cost, error) {
	r.body, r.sink, r.Rows, r.Columns = httpwire.Counted{From: body}, sink, 0, r.Columns[:0]
	// To look for names that come twice would take memory.
	r.decoder.Reset(&r.body, jsontext.AllowDuplicateNames(true))
	err := answer()
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		why := "the server or the connection broke down"
		if r.Timeout != "" {
			why += ", or its " + r.Timeout + " is over"
		}
		err = fmt.Errorf("the answer was cut off after %d rows: %s: %w", r.Rows, why, io.ErrUnexpectedEOF)
	case err == nil: // else the connection is not used again
		if _, err = io.Copy(io.Discard, &r.body); err != nil {
			err = fmt.Errorf("reading the end of the answer: %w", err)
		}
	}
	return driver.Cost{Rows: r.Rows, Bytes: r.body.N}, err
}

// Documents reads one or more documents, to the end of the response.
func (r *Reader) Documents(document func() error) error {
	for n := 0; ; n++ {
		if err := document(); err != nil {
			if n > 0 && errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
	}
}

// Object reads an object, calling member for each of its members, which reads
// the value.
func (r *Reader) Object(member func(name string) error) error {
	if err := r.expect(jsontext.KindBeginObject); err != nil {
		return err
	}
	for r.decoder.PeekKind() == jsontext.KindString {
		name, err := r.Text()
		if err == nil {
			err = member(name)
		}
		if err != nil {
			return err
		}
	}
	return r.expect(jsontext.KindEndObject)
}

// Members are the functions that read the members of an object.
type Members map[string]func() error

// ObjectReader returns a function that reads an object: by the members' functions, and past
// the others.
func (r *Reader) ObjectReader(members Members) func() error {
	return func() error {
		return r.Object(func(name string) error {
			if read := members[name]; read != nil {
				return read()
			}
			return r.Skip()
		})
	}
}

// ArrayReader returns a function that reads an array, and calls element for each of its elements.
func (r *Reader) ArrayReader(element func() error) func() error {
	return func() error { return r.Array(element) }
}

// Array reads an array, calling element for each of its elements, which reads
// it.
func (r *Reader) Array(element func() error) error {
	if err := r.expect(jsontext.KindBeginArray); err != nil {
		return err
	}
	for {
		switch r.decoder.PeekKind() {
		case jsontext.KindEndArray, jsontext.KindInvalid:
			return r.expect(jsontext.KindEndArray)
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// Text reads a text. It returns any other value as its JSON text.
func (r *Reader) Text() (string, error) {
	token, err := r.decoder.ReadToken()
	return token.String(), err
}

// True reads a value and reports whether it is true.
func (r *Reader) True() (bool, error) {
	token, err := r.decoder.ReadToken()
	return err == nil && token.Kind() == jsontext.KindTrue, err
}

// Int reads a whole number.
func (r *Reader) Int() (int64, error) {
	value, err := r.decoder.ReadValue()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(value), 10, 64)
}

// Skip reads a value that does not matter.
func (r *Reader) Skip() error { return r.decoder.SkipValue() }

// expect reads a token of the kind.
func (r *Reader) expect(kind jsontext.Kind) error {
	token, err := r.decoder.ReadToken()
	if err == nil && token.Kind() != kind {
		err = fmt.Errorf("the answer has %v where %v was expected; is this %s?", token.Kind(), kind, r.System)
	}
	return err
}
