// Package object reads JSON: an object a line, or an array of objects.
package object

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/lineformat"
)

// Reader reads a file of JSON objects: one a line, or one array of them, or objects that go
// on over several lines.
type Reader struct {
	Lines   *input.LineReader
	stream  *objectStream // nil: each line is an object
	begun   bool
	decoder *jsontext.Decoder
	options []jsontext.Options
	buffer  bytes.Buffer
	name    []byte
	text    []byte
}

func NewReader(lines *input.LineReader) *Reader {
	o := &Reader{Lines: lines, options: []jsontext.Options{jsontext.AllowDuplicateNames(true)}} // to look for these takes memory
	o.decoder = jsontext.NewDecoder(&o.buffer)
	return o
}

// object returns the text of the next object, or io.EOF.
func (o *Reader) object() ([]byte, error) {
	if o.stream != nil {
		return o.stream.next(o.Lines)
	}
	line, err := o.Lines.Next()
	for err == nil && len(bytes.TrimSpace(line)) == 0 {
		line, err = o.Lines.Next()
	}
	if err == nil && !o.begun {
		o.begun = true
		if o.spansLines(line) {
			o.stream = newObjectStream(o.Lines, o.options)
			return o.stream.next(o.Lines)
		}
	}
	return line, err
}

// spansLines reports whether the first line begins an array, or an object that it does not end.
func (o *Reader) spansLines(line []byte) bool {
	o.buffer = *bytes.NewBuffer(line)
	o.decoder.Reset(&o.buffer, o.options...)
	if o.decoder.PeekKind() == '[' {
		return true
	}
	_, err := o.decoder.ReadValue()
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// objectStream reads objects wherever lines end.
type objectStream struct {
	from    io.Reader
	decoder *jsontext.Decoder
	inArray bool
	read    int64   // bytes
	breaks  []int64 // ends of lines in the bytes that the decoder has not passed
}

// newObjectStream reads from the line at hand on.
func newObjectStream(lines *input.LineReader, options []jsontext.Options) *objectStream {
	s := &objectStream{from: lines.Remainder()}
	s.decoder = jsontext.NewDecoder(s, options...)
	return s
}

// Read implements io.Reader, for the decoder. It bounds an object as input.MaxLine does a line.
func (s *objectStream) Read(to []byte) (int, error) {
	if s.read-s.decoder.InputOffset() > input.MaxLine {
		return 0, fmt.Errorf("a JSON object of more than %d MiB; is the format right?", input.MaxLine>>20)
	}
	n, err := s.from.Read(to)
	for i, b := range to[:n] {
		if b == '\n' {
			s.breaks = append(s.breaks, s.read+int64(i))
		}
	}
	s.read += int64(n)
	return n, err
}

// next returns the text of the next object, and sets the line at which it begins.
func (s *objectStream) next(lines *input.LineReader) ([]byte, error) {
	for {
		kind := s.decoder.PeekKind()
		if kind == '{' {
			object, err := s.decoder.ReadValue()
			s.pass(lines, s.decoder.InputOffset()-int64(len(object)))
			if err != nil {
				return nil, malformedError(err)
			}
			return object, nil
		}
		token, err := s.decoder.ReadToken()
		s.pass(lines, s.decoder.InputOffset())
		switch {
		case errors.Is(err, io.EOF) && !s.inArray:
			return nil, io.EOF
		case err != nil:
			return nil, malformedError(err)
		case token.Kind() == '[' && !s.inArray:
			s.inArray = true
		case token.Kind() == ']':
			s.inArray = false
		default:
			return nil, errors.New("the JSON has something else than objects; write each row as one, as by jq -c '.[]'")
		}
	}
}

// pass has the lines stand where the decoder is.
func (s *objectStream) pass(lines *input.LineReader, offset int64) {
	n := 0
	for n < len(s.breaks) && s.breaks[n] < offset {
		n++
	}
	lines.Line += int64(n)
	s.breaks = s.breaks[n:]
}

// IsNested reports whether a value of JSON has others in it.
func IsNested(kind jsontext.Kind) bool { return kind == '{' || kind == '[' }

// Next calls member for each member of the next object, or returns io.EOF. Name and value are valid
// only during the call.
func (o *Reader) Next(member func(name, value []byte, kind jsontext.Kind) error) error {
	line, err := o.object()
	if err != nil {
		return err
	}
	o.buffer = *bytes.NewBuffer(line)
	o.decoder.Reset(&o.buffer, o.options...)
	begin, err := o.decoder.ReadToken()
	if err != nil {
		return malformedError(err)
	}
	if begin.Kind() != '{' {
		return errors.New("the line is not a JSON object; " + input.CorrectLine + ", or " + input.NameFormat)
	}
	o.name = o.name[:0]
	if err := o.members(member); err != nil {
		return err
	}
	if _, err := o.decoder.ReadToken(); err != nil {
		return malformedError(err)
	}
	if _, err := o.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object of the line; give each a line of its own")
	}
	return nil
}

// members calls member for each member up to the end of the object at hand; name is the beginning of
// their names. An object in it is passed without its text, and its members follow, as device.id.
func (o *Reader) members(member func(name, value []byte, kind jsontext.Kind) error) error {
	begin := len(o.name)
	for o.decoder.PeekKind() != '}' {
		raw, err := o.decoder.ReadValue()
		if err != nil {
			return malformedError(err)
		}
		if o.name, err = jsontext.AppendUnquote(o.name[:begin], raw); err != nil {
			return malformedError(err)
		}
		kind := o.decoder.PeekKind()
		if kind == '{' {
			if err := member(o.name, nil, kind); err != nil {
				return err
			}
			if _, err := o.decoder.ReadToken(); err != nil {
				return malformedError(err)
			}
			o.name = append(o.name, '.')
			if err := o.members(member); err != nil {
				return err
			}
			if _, err := o.decoder.ReadToken(); err != nil {
				return malformedError(err)
			}
			continue
		}
		if raw, err = o.decoder.ReadValue(); err != nil {
			return malformedError(err)
		}
		value := []byte(raw)
		if kind == '"' {
			if o.text, err = jsontext.AppendUnquote(o.text[:0], raw); err != nil {
				return malformedError(err)
			}
			value = o.text
		}
		if err := member(o.name, value, kind); err != nil {
			return err
		}
	}
	return nil
}

// malformedError is the error of a line that is not JSON.
func malformedError(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && syntax.Err != nil {
		err = syntax.Err
	}
	if syntax != nil && strings.Contains(err.Error(), "invalid UTF-8") {
		return errors.New("the line is not valid UTF-8; " + input.GiveEncoding)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON of the line is cut off; " + input.CorrectLine + ", or copy the file again")
	}
	return fmt.Errorf("the line is not JSON (%w); %s, or %s", err, input.CorrectLine, input.NameFormat)
}

// Rows are the rows of a file of JSON objects.
type Rows struct {
	objects *Reader
	table   *input.Table
	of      map[string]memberRole
	Named   []bool           // per role, whether a row names it; nil: not recorded
	timeOf  []string         // the column of the time, or those of the date and the time of day
	marks   lineformat.Marks // of fields that have a value or NULL
	members lineformat.Marks // of roles

	filler *input.Filler // of the row at hand
	date   []byte        // of the row at hand, and its time of day
	ofDay  []byte
	set    func(name, value []byte, kind jsontext.Kind) error // the method value, made once
}

// memberRole is the role of a member, and its place among those of the table.
type memberRole struct {
	input.Role
	at int
}

func NewRows(lines *input.LineReader, t *input.Table, times []string) (*Rows, error) {
	names := t.Columns(times...)
	roles, _, err := t.Roles(names, times...)
	if err != nil {
		return nil, err
	}
	o := &Rows{objects: NewReader(lines), table: t, of: make(map[string]memberRole), timeOf: times}
	for i, name := range names {
		o.of[name] = memberRole{roles[i], i}
	}
	o.set = o.member
	return o, nil
}

// Next fills rows until the filler is full, or returns io.EOF after the last one.
func (o *Rows) Next(f *input.Filler) error {
	o.filler = f
	for {
		f.Begin(o.table)
		o.marks.Begin(len(o.table.Fields))
		o.members.Begin(len(o.of))
		o.date, o.ofDay = o.date[:0], o.ofDay[:0]
		if err := o.objects.Next(o.set); err != nil {
			return err
		}
		switch {
		case len(o.date) == 0:
			return input.MissingTimeError(o.timeOf[0])
		case len(o.timeOf) > 1 && len(o.ofDay) == 0:
			return input.MissingTimeError(o.timeOf[1])
		}
		o.marks.FillMissing(f)
		time, err := f.TimeOfTwo(o.timeOf[0], o.date, o.ofDay)
		if err != nil {
			return err
		}
		if full, err := f.Finish(time); full || err != nil {
			return err
		}
	}
}

// member puts a member of an object into the row at hand.
func (o *Rows) member(name, value []byte, kind jsontext.Kind) (err error) {
	f := o.filler
	r, known := o.of[string(name)]
	if !known {
		return nil
	}
	if o.members.Has(r.at) {
		return input.DuplicateError("object", "member", name)
	}
	if o.members.Set(r.at); o.Named != nil {
		o.Named[r.at] = true
	}
	switch {
	case kind == 'n':
		return nil // treated as a missing member
	case kind == '{':
		return fmt.Errorf("column %s: the value is an object; name its members, as in %s.id", name, name)
	case IsNested(kind):
		return fmt.Errorf("column %s: %q is nested; leave the column out of time, tags and fields", name, value[:min(len(value), input.MaxShown)])
	}
	switch r.What {
	case input.RoleTime:
		o.date = append(o.date[:0], value...)
	case input.RoleTimeOfDay:
		o.ofDay = append(o.ofDay[:0], value...)
	case input.RoleTag:
		err = f.TagText(r.Place, value, true)
	case input.RoleField:
		o.marks.Set(r.Place)
		err = f.Field(r.Place, value, kind == '"')
	}
	return err
}

// Place returns the place of the row at hand, without the file.
func (o *Rows) Place() input.Error { return input.Error{Line: o.objects.Lines.Line} }
