package questdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/query"
)

// exec is a connection that runs statements over REST's /exec. It implements
// driver.Querier.
type exec struct {
	client  *httpwire.Client
	decoder *jsontext.Decoder
	columns []string // types of the answer's columns
	row     []query.Value
	texts   []byte // of the row
}

func newExec(s *settings) *exec {
	return &exec{client: httpwire.New(s.wire()), decoder: new(jsontext.Decoder)}
}

// Close implements driver.Querier.
func (e *exec) Close() error {
	e.client.Close()
	return nil
}

// Do implements driver.Querier. An answer that ends before its end, or that has
// other than the number of rows that it says, is an error.
func (e *exec) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	cost, err := e.do(ctx, r.Text, sink)
	if err != nil {
		return cost, fmt.Errorf("asking QuestDB over REST: %w", err)
	}
	return cost, nil
}

func (e *exec) do(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	request, err := e.client.Request(ctx, http.MethodGet, "/exec", url.Values{"query": {text}}, nil)
	if err != nil {
		return driver.Cost{}, err
	}
	response, err := e.client.Answer(request, explained)
	if err != nil {
		return driver.Cost{}, err
	}
	defer response.Body.Close()
	body := &httpwire.Counted{From: response.Body}
	rows, err := e.read(body, sink)
	cost := driver.Cost{Rows: rows, Bytes: body.N}
	if err != nil && ctx.Err() != nil {
		return cost, context.Cause(ctx)
	}
	return cost, err
}

// read reads an answer to its end and returns the number of its rows.
func (e *exec) read(body *httpwire.Counted, sink query.Sink) (int64, error) {
	d := e.decoder
	d.Reset(body, jsontext.AllowDuplicateNames(true)) // to look for them would take memory
	rows, counted := int64(0), int64(-1)
	err := object(d, func(name string) (err error) {
		switch name {
		case "columns":
			return e.readColumns()
		case "dataset":
			rows, err = e.readRows(body, sink)
			return err
		case "count":
			counted, err = integer(d)
			return err
		case "error":
			token, err := d.ReadToken()
			if err == nil {
				err = explanation{Error: token.String()}.failure()
			}
			return err
		}
		return d.SkipValue()
	})
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("the answer was cut off after %d rows: the server or the connection broke down, or its query.timeout is over: %w", rows, io.ErrUnexpectedEOF)
		}
		return rows, err
	}
	if counted >= 0 && counted != rows {
		return rows, fmt.Errorf("the answer has %d rows and says that it has %d", rows, counted)
	}
	if _, err := io.Copy(io.Discard, body); err != nil { // else the connection is not used again
		return rows, fmt.Errorf("reading the end of the answer: %w", err)
	}
	return rows, nil
}

// object reads an object, calling member for each of its members, which reads
// the value.
func object(d *jsontext.Decoder, member func(name string) error) error {
	if err := expect(d, jsontext.KindBeginObject); err != nil {
		return err
	}
	for d.PeekKind() == jsontext.KindString {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := member(token.String()); err != nil {
			return err
		}
	}
	return expect(d, jsontext.KindEndObject)
}

// expect reads a token of the kind.
func expect(d *jsontext.Decoder, kind jsontext.Kind) error {
	token, err := d.ReadToken()
	if err == nil && token.Kind() != kind {
		err = fmt.Errorf("the answer has %v where %v was expected; is this QuestDB?", token.Kind(), kind)
	}
	return err
}

func integer(d *jsontext.Decoder) (int64, error) {
	value, err := d.ReadValue()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(value), 10, 64)
}

// readColumns reads the types of the columns.
func (e *exec) readColumns() error {
	d := e.decoder
	e.columns = e.columns[:0]
	if err := expect(d, jsontext.KindBeginArray); err != nil {
		return err
	}
	for d.PeekKind() == jsontext.KindBeginObject {
		kind := ""
		err := object(d, func(name string) error {
			if name != "type" {
				return d.SkipValue()
			}
			token, err := d.ReadToken()
			kind = token.String()
			return err
		})
		if err != nil {
			return err
		}
		e.columns = append(e.columns, kind)
	}
	return expect(d, jsontext.KindEndArray)
}

// readRows hands the rows to the sink, if there is one.
func (e *exec) readRows(body *httpwire.Counted, sink query.Sink) (int64, error) {
	d := e.decoder
	if err := expect(d, jsontext.KindBeginArray); err != nil {
		return 0, err
	}
	rows := int64(0)
	for ; d.PeekKind() == jsontext.KindBeginArray; rows++ {
		body.Row()
		if sink == nil {
			if err := d.SkipValue(); err != nil {
				return rows, err
			}
			continue
		}
		if err := e.readRow(); err != nil {
			return rows, err
		}
		if err := sink.Row(e.row); err != nil {
			return rows, err
		}
	}
	return rows, expect(d, jsontext.KindEndArray)
}

func (e *exec) readRow() error {
	d := e.decoder
	if err := expect(d, jsontext.KindBeginArray); err != nil {
		return err
	}
	e.row, e.texts = e.row[:0], e.texts[:0]
	for _, column := range e.columns {
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		value, err := e.value(column, raw)
		if err != nil {
			return fmt.Errorf("a value of a column of type %s: %w", column, err)
		}
		e.row = append(e.row, value)
	}
	return expect(d, jsontext.KindEndArray)
}

// value makes a value of what stands in the answer. Texts lie in e.texts.
func (e *exec) value(column string, raw jsontext.Value) (query.Value, error) {
	// ParseInt and ParseFloat keep nothing of the text but in their errors.
	text := unsafe.String(unsafe.SliceData(raw), len(raw))
	switch raw.Kind() {
	case jsontext.KindNull:
		return query.Value{}, nil
	case jsontext.KindTrue:
		return query.Value{Kind: query.Int, Int: 1}, nil
	case jsontext.KindFalse:
		return query.Value{Kind: query.Int}, nil
	case jsontext.KindNumber:
		if column == "DOUBLE" || column == "FLOAT" {
			bits := 64
			if column == "FLOAT" { // the shortest digits that tell singles apart
				bits = 32
			}
			v, err := strconv.ParseFloat(text, bits)
			return query.Value{Kind: query.Float, Float: v}, copied(err)
		}
		v, err := strconv.ParseInt(text, 10, 64)
		return query.Value{Kind: query.Int, Int: v}, copied(err)
	case jsontext.KindString:
		start := len(e.texts)
		var err error
		if e.texts, err = jsontext.AppendUnquote(e.texts, raw); err != nil {
			return query.Value{}, err
		}
		unquoted := e.texts[start:]
		if column == "TIMESTAMP" || column == "TIMESTAMP_NS" || column == "DATE" {
			ns, err := parseTime(unquoted)
			return query.Value{Kind: query.Time, Int: ns}, err
		}
		return query.Value{Kind: query.Text, Text: unquoted}, nil
	}
	return query.Value{}, fmt.Errorf("%s is no value that tsmark knows", raw)
}

// copied returns an error that owns its texts.
func copied(err error) error {
	if err != nil {
		return errors.New(err.Error())
	}
	return nil
}
