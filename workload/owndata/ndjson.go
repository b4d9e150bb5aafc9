package owndata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// objects reads a file of JSON objects: one a line, or one array of them, or objects that go
// on over several lines.
type objects struct {
	lines   *lineReader
	stream  *objectStream // nil: each line is an object
	begun   bool
	decoder *jsontext.Decoder
	options []jsontext.Options
	buffer  bytes.Buffer
	name    []byte
	text    []byte
}

func newObjects(lines *lineReader) *objects {
	o := &objects{lines: lines, options: []jsontext.Options{jsontext.AllowDuplicateNames(true)}} // to look for these takes memory
	o.decoder = jsontext.NewDecoder(&o.buffer)
	return o
}

// object returns the text of the next object; io.EOF: there is none.
func (o *objects) object() ([]byte, error) {
	if o.stream != nil {
		return o.stream.next(o.lines)
	}
	line, err := o.lines.next()
	for err == nil && len(bytes.TrimSpace(line)) == 0 {
		line, err = o.lines.next()
	}
	if err == nil && !o.begun {
		o.begun = true
		if o.spansLines(line) {
			o.stream = newObjectStream(o.lines, o.options)
			return o.stream.next(o.lines)
		}
	}
	return line, err
}

// spansLines reports whether the first line begins an array, or an object that it does not end.
func (o *objects) spansLines(line []byte) bool {
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
	breaks  []int64 // where lines end in those that the decoder has not passed
}

// newObjectStream reads from the line at hand on.
func newObjectStream(lines *lineReader, options []jsontext.Options) *objectStream {
	s := &objectStream{from: io.MultiReader(bytes.NewReader(bytes.Clone(lines.buf[lines.begin:lines.full])), lines.from)}
	s.decoder = jsontext.NewDecoder(s, options...)
	return s
}

// Read implements io.Reader, for the decoder. It bounds an object as maxLine does a line.
func (s *objectStream) Read(to []byte) (int, error) {
	if s.read-s.decoder.InputOffset() > maxLine {
		return 0, fmt.Errorf("a JSON object of more than %d MiB; is the format right?", maxLine>>20)
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

// next returns the text of the next object, and has the lines say where it begins.
func (s *objectStream) next(lines *lineReader) ([]byte, error) {
	for {
		kind := s.decoder.PeekKind()
		if kind == '{' {
			object, err := s.decoder.ReadValue()
			s.pass(lines, s.decoder.InputOffset()-int64(len(object)))
			if err != nil {
				return nil, malformed(err)
			}
			return object, nil
		}
		token, err := s.decoder.ReadToken()
		s.pass(lines, s.decoder.InputOffset())
		switch {
		case errors.Is(err, io.EOF) && !s.inArray:
			return nil, io.EOF
		case err != nil:
			return nil, malformed(err)
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
func (s *objectStream) pass(lines *lineReader, offset int64) {
	n := 0
	for n < len(s.breaks) && s.breaks[n] < offset {
		n++
	}
	lines.line += int64(n)
	s.breaks = s.breaks[n:]
}

// nested reports whether a value of JSON has others in it.
func nested(kind jsontext.Kind) bool { return kind == '{' || kind == '[' }

// next calls member for each member of the next object; io.EOF: there is none. Name and
// value belong to the caller only for the call.
func (o *objects) next(member func(name, value []byte, kind jsontext.Kind) error) error {
	line, err := o.object()
	if err != nil {
		return err
	}
	o.buffer = *bytes.NewBuffer(line)
	o.decoder.Reset(&o.buffer, o.options...)
	begin, err := o.decoder.ReadToken()
	if err != nil {
		return malformed(err)
	}
	if begin.Kind() != '{' {
		return errors.New("the line is no JSON object; " + correct + ", or " + giveFormat)
	}
	for o.decoder.PeekKind() != '}' {
		raw, err := o.decoder.ReadValue()
		if err != nil {
			return malformed(err)
		}
		if o.name, err = jsontext.AppendUnquote(o.name[:0], raw); err != nil {
			return malformed(err)
		}
		kind := o.decoder.PeekKind()
		if raw, err = o.decoder.ReadValue(); err != nil {
			return malformed(err)
		}
		value := []byte(raw)
		if kind == '"' {
			if o.text, err = jsontext.AppendUnquote(o.text[:0], raw); err != nil {
				return malformed(err)
			}
			value = o.text
		}
		if err := member(o.name, value, kind); err != nil {
			return err
		}
	}
	if _, err := o.decoder.ReadToken(); err != nil {
		return malformed(err)
	}
	if _, err := o.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the JSON object of the line; give each a line of its own")
	}
	return nil
}

// malformed is the error of a line that is no JSON.
func malformed(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && syntax.Err != nil {
		err = syntax.Err
	}
	if syntax != nil && strings.Contains(err.Error(), "invalid UTF-8") {
		return errors.New("the line is not valid UTF-8; convert the file, as by iconv -f latin1 -t utf-8 if it is Latin-1")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON of the line is cut off; " + correct + ", or copy the file again")
	}
	return fmt.Errorf("the line is no JSON (%w); %s, or %s", err, correct, giveFormat)
}

// objectRows are the rows of a file of JSON objects.
type objectRows struct {
	objects *objects
	table   *table
	of      map[string]memberRole
	seen    []bool   // per role, whether a row names it; nil: nobody wants to know
	timeOf  []string // the column of the time, or those of the date and the time of day
	marks   marks    // of fields that have a value or NULL
	members marks    // of roles

	filler *filler // of the row at hand
	date   []byte  // of the row at hand, and its time of day
	ofDay  []byte
	set    func(name, value []byte, kind jsontext.Kind) error // the method value, made once
}

// memberRole is the role of a member, and its place among those of the table.
type memberRole struct {
	role
	at int
}

func newObjectRows(lines *lineReader, t *table, times []string) (*objectRows, error) {
	names := t.columns(times...)
	roles, _, err := t.roles(names, times...)
	if err != nil {
		return nil, err
	}
	o := &objectRows{objects: newObjects(lines), table: t, of: make(map[string]memberRole), timeOf: times}
	for i, name := range names {
		o.of[name] = memberRole{roles[i], i}
	}
	o.set = o.member
	return o, nil
}

// distinct is a list without what stands in it again.
func distinct(names []string) []string {
	var out []string
	seen := make(map[string]bool)
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// next implements rows.
func (o *objectRows) next(f *filler) error {
	o.filler = f
	for {
		f.begin(o.table)
		o.marks.begin(len(o.table.Fields))
		o.members.begin(len(o.of))
		o.date, o.ofDay = o.date[:0], o.ofDay[:0]
		if err := o.objects.next(o.set); err != nil {
			return err
		}
		switch {
		case len(o.date) == 0:
			return noTime(o.timeOf[0])
		case len(o.timeOf) > 1 && len(o.ofDay) == 0:
			return noTime(o.timeOf[1])
		}
		o.marks.fillMissing(f)
		time, err := f.timeOfTwo(o.timeOf[0], o.date, o.ofDay)
		if err != nil {
			return err
		}
		if full, err := f.finish(time); full || err != nil {
			return err
		}
	}
}

// member puts a member of an object into the row at hand.
func (o *objectRows) member(name, value []byte, kind jsontext.Kind) (err error) {
	f := o.filler
	r, known := o.of[string(name)]
	if !known {
		return nil
	}
	if o.members.has(r.at) {
		return errTwice("object", "member", name)
	}
	if o.members.set(r.at); o.seen != nil {
		o.seen[r.at] = true
	}
	switch {
	case kind == 'n':
		return nil // as where it is not there
	case nested(kind):
		return fmt.Errorf("column %s: %q is nested; leave the column out of time, tags and fields", name, value[:min(len(value), shown)])
	}
	switch r.what {
	case isTime:
		o.date = append(o.date[:0], value...)
	case isTimeOfDay:
		o.ofDay = append(o.ofDay[:0], value...)
	case isTag:
		err = f.tagText(r.place, value, true)
	case isField:
		o.marks.set(r.place)
		err = f.field(r.place, value, kind == '"')
	}
	return err
}

// place implements rows.
func (o *objectRows) place() Error { return Error{Line: o.objects.lines.line} }
