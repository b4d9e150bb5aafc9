package owndata

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// objects reads a file with a JSON object a line.
type objects struct {
	lines   *lineReader
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

// nested reports whether a value of JSON has others in it.
func nested(kind jsontext.Kind) bool { return kind == '{' || kind == '[' }

// next calls member for each member of the next object; io.EOF: there is none. Name and
// value belong to the caller only for the call.
func (o *objects) next(member func(name, value []byte, kind jsontext.Kind) error) error {
	line, err := o.lines.next()
	for err == nil && len(trim(line)) == 0 {
		line, err = o.lines.next()
	}
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
	seen    []bool // per role, whether a row names it; nil: nobody wants to know
	timeOf  string
	marks   marks

	filler  *filler // of the row at hand
	time    int64
	hasTime bool
	set     func(name, value []byte, kind jsontext.Kind) error // the method value, made once
}

// memberRole is the role of a member, and its place among those of the table.
type memberRole struct {
	role
	at int
}

func newObjectRows(lines *lineReader, t *table, time string) (*objectRows, error) {
	names := t.columns(time)
	roles, _, err := t.roles(names, time)
	if err != nil {
		return nil, err
	}
	o := &objectRows{objects: newObjects(lines), table: t, of: make(map[string]memberRole), timeOf: time}
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
		o.hasTime = false
		if err := o.objects.next(o.set); err != nil {
			return err
		}
		if !o.hasTime {
			return noTime(o.timeOf)
		}
		o.marks.fillMissing(f)
		if full, err := f.finish(o.time); full || err != nil {
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
	if o.seen != nil {
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
		o.time, err = f.time(o.timeOf, value)
		o.hasTime = true
	case isTag:
		if !f.absent(value) {
			err = f.tag(r.place, value)
		}
	case isField:
		o.marks.set(r.place)
		err = f.field(r.place, value, kind == '"')
	}
	return err
}

// place implements rows.
func (o *objectRows) place() Error { return Error{Line: o.objects.lines.line} }
