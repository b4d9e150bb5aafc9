package sample

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/lineformat"
)

// export reads the JSON lines of VictoriaMetrics' /api/v1/export: a line has the labels, the values
// and the times of some samples of one series.
type export struct {
	lines   *input.LineReader
	decoder *jsontext.Decoder
	buffer  bytes.Buffer
	sample  Sample
	fields  [1]Field
	text    []byte
	values  list
	times   list
	next    int // sample of the line
}

func newExport(lines *input.LineReader) *export {
	e := &export{lines: lines}
	e.decoder = jsontext.NewDecoder(&e.buffer)
	return e
}

func beginsWithExport(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.HasPrefix(line, []byte(`{"metric":{`)) && (bytes.Contains(line, []byte(`"values":[`)) || bytes.Contains(line, []byte(`"timestamps":[`)))
}

// list is some texts.
type list struct {
	bytes []byte
	ends  []int
}

func (l *list) reset() { l.bytes, l.ends = l.bytes[:0], l.ends[:0] }

func (l *list) add(text []byte) {
	l.bytes = append(l.bytes, text...)
	l.ends = append(l.ends, len(l.bytes))
}

func (l *list) text(i int) []byte {
	begin := 0
	if i > 0 {
		begin = l.ends[i-1]
	}
	return l.bytes[begin:l.ends[i]]
}

// Line implements Source.
func (e *export) Line() int64 { return e.lines.Line }

// Next implements Source.
func (e *export) Next() (*Sample, error) {
	for e.next >= len(e.values.ends) {
		line, err := e.lines.Next()
		if err != nil {
			return nil, err
		}
		if line = trim(line); len(line) == 0 {
			continue
		}
		if err := e.read(line); err != nil {
			return nil, err
		}
	}
	e.fields[0] = Field{Name: valueName, Value: e.values.text(e.next), Type: series.Float}
	e.sample.Fields, e.sample.Time = e.fields[:], e.times.text(e.next)
	e.next++
	return &e.sample, nil
}

// read reads a line.
func (e *export) read(line []byte) error {
	e.values.reset()
	e.times.reset()
	e.text, e.next = e.text[:0], 0
	e.sample.Table, e.sample.Tags = nil, e.sample.Tags[:0]
	e.buffer = *bytes.NewBuffer(line)
	e.decoder.Reset(&e.buffer)
	err := e.object()
	if err == nil {
		if _, end := e.decoder.ReadToken(); !errors.Is(end, io.EOF) {
			err = errors.New("something follows the JSON object")
		}
	}
	switch {
	case err != nil && strings.Contains(err.Error(), "invalid UTF-8"):
		return errors.New("the line is not valid UTF-8; " + input.GiveEncoding)
	case err != nil:
		return fmt.Errorf("the line is not one of VictoriaMetrics' export (%w); %s, or %s", err, input.CorrectLine, input.NameFormat)
	case len(e.sample.Table) == 0:
		return fmt.Errorf("the metric has no __name__; %s", input.CorrectLine)
	case len(e.values.ends) != len(e.times.ends):
		return fmt.Errorf("the line has %d values and %d timestamps; %s", len(e.values.ends), len(e.times.ends), input.CorrectLine)
	}
	return nil
}

// object reads the object of a line.
func (e *export) object() error {
	if err := e.begin('{'); err != nil {
		return err
	}
	for e.decoder.PeekKind() != '}' {
		name, err := e.string()
		if err != nil {
			return err
		}
		switch string(name) {
		case "metric":
			err = e.labels()
		case "values":
			err = e.numbers(&e.values)
		case "timestamps":
			err = e.numbers(&e.times)
		default:
			err = e.decoder.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err := e.decoder.ReadToken()
	return err
}

func (e *export) begin(kind jsontext.Kind) error {
	token, err := e.decoder.ReadToken()
	if err == nil && token.Kind() != kind {
		err = fmt.Errorf("a %q is missing", kind)
	}
	return err
}

// string reads a text, which is valid until the next line.
func (e *export) string() ([]byte, error) {
	raw, err := e.decoder.ReadValue()
	if err != nil {
		return nil, err
	}
	if raw.Kind() != '"' {
		return nil, fmt.Errorf("%s is not a text", raw[:min(len(raw), input.MaxShown)])
	}
	begin := len(e.text)
	if e.text, err = jsontext.AppendUnquote(e.text, raw); err != nil {
		return nil, err
	}
	return e.text[begin:len(e.text):len(e.text)], nil
}

func (e *export) labels() error {
	if err := e.begin('{'); err != nil {
		return err
	}
	for e.decoder.PeekKind() != '}' {
		key, err := e.string()
		if err != nil {
			return err
		}
		value, err := e.string()
		if err != nil {
			return err
		}
		if string(key) == "__name__" {
			e.sample.Table = value
		} else if len(value) > 0 {
			e.sample.Tags = append(e.sample.Tags, lineformat.Pair{Key: key, Value: value})
		}
	}
	_, err := e.decoder.ReadToken()
	return err
}

// numbers reads an array of numbers. VictoriaMetrics writes NaN as null, and infinities in quotes.
func (e *export) numbers(into *list) error {
	if err := e.begin('['); err != nil {
		return err
	}
	for e.decoder.PeekKind() != ']' {
		raw, err := e.decoder.ReadValue()
		if err != nil {
			return err
		}
		switch raw.Kind() {
		case 'n':
			into.add([]byte("NaN"))
		case '"':
			into.add(raw[1 : len(raw)-1])
		case '0':
			into.add(raw)
		default:
			return fmt.Errorf("%s is not a number", raw[:min(len(raw), input.MaxShown)])
		}
	}
	_, err := e.decoder.ReadToken()
	return err
}
