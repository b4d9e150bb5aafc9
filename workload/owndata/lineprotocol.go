package owndata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
)

// point is a line of line protocol, cut into its parts, which stay as they are escaped.
type point struct {
	head   []byte // the measurement and its tags
	fields []byte
	time   []byte
}

// pointLines reads points, a line each. Comments are left out, and what stands before the
// first point between the comments # DDL and # DML, as in files for "influx -import": these
// are statements that make a database.
type pointLines struct {
	*lineReader
	points     bool // there was one
	statements bool // the line at hand is a statement
}

func newPointLines(r io.Reader) *pointLines { return &pointLines{lineReader: newLineReader(r)} }

var errStatements = errors.New("the statements behind # DDL do not end: no line # DML follows; put one before the first point")

// comment looks at a line that begins with #.
func (l *pointLines) comment(line []byte) {
	switch text := bytes.TrimSpace(line[1:]); {
	case bytes.EqualFold(text, []byte("DDL")):
		l.statements = !l.points
	case bytes.EqualFold(text, []byte("DML")):
		l.statements = false
	}
}

// next cuts the next line that has a point; io.EOF: there is none. A text in quotes may go
// on over several lines.
func (l *pointLines) next() (point, error) {
	for {
		line, err := l.lineReader.next()
		if errors.Is(err, io.EOF) && l.statements {
			return point{}, errStatements
		} else if err != nil {
			return point{}, err
		}
		if line = trim(line); len(line) == 0 {
			continue
		}
		if line[0] == '#' {
			l.comment(line)
			continue
		}
		if l.statements {
			continue
		}
		l.points = true
		cut, err := cutPoint(line)
		for errors.Is(err, errOpen) {
			if line, err = l.closing(func(added []byte) bool { return endOfText(added) >= 0 }); errors.Is(err, io.EOF) {
				return cut, errOpen
			} else if err == nil {
				cut, err = cutPoint(trim(line))
			}
		}
		return cut, err
	}
}

// errOpen is the error of a line that ends within quotes.
var errOpen = errors.New("a text has no closing quote")

// cutPoint cuts a line that is not empty.
func cutPoint(line []byte) (p point, err error) {
	at := indexPlain(line, ' ')
	if at <= 0 {
		return p, errors.New("the line has no blank behind its measurement and tags, so it is no line protocol; " + correct + ", or " + giveFormat)
	}
	p.head, line = line[:at], bytes.TrimLeft(line[at:], " ")
	end := endOfFields(line)
	if end < 0 {
		return p, errOpen
	}
	p.fields, p.time = line[:end], trim(line[end:])
	if len(p.fields) == 0 {
		return p, errors.New("the line has no fields; " + correct)
	}
	if len(p.time) == 0 {
		if indexPlain(p.fields, '=') < 0 {
			return p, errors.New("the line has no fields behind its tags; note that a backslash before a blank escapes the blank; " + correct)
		}
		return p, errNoRowTime
	}
	return p, nil
}

// indexPlain returns where a character stands that no backslash escapes; -1: nowhere.
func indexPlain(text []byte, c byte) int {
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], c)
		if n < 0 {
			return -1
		}
		if at += n; at == 0 || text[at-1] != '\\' {
			return at
		}
		at++
	}
}

// endOfFields returns where the blank stands that ends the fields, or the text ends; -1:
// within a quoted text.
func endOfFields(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			// Quotes are only special where a value begins.
			if i == 0 || text[i-1] != '=' || i > 1 && text[i-2] == '\\' {
				continue
			}
			n := endOfQuotes(text[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case ' ':
			return i
		}
	}
	return len(text)
}

// endOfQuotes returns the length of a text in quotes; -1: it does not end.
func endOfQuotes(text []byte) int {
	if n := endOfText(text[1:]); n >= 0 {
		return 1 + n
	}
	return -1
}

// endOfText returns how many bytes of a text within quotes come up to and with the quote
// that ends it; -1: it does not end.
func endOfText(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// pair is a tag or a field of a line, which stays as it is escaped.
type pair struct{ key, value []byte }

// cutHead cuts a head into its measurement and its tags, which it appends to a list. It
// refuses the tags that InfluxDB refuses.
func cutHead(head []byte, tags []pair) (measurement []byte, _ []pair, err error) {
	end := indexPlain(head, ',')
	if end < 0 {
		return head, tags, nil
	}
	if end == 0 {
		return nil, tags, errors.New("the line has no measurement before its first comma; " + correct + ", or " + giveFormat)
	}
	for rest := head[end+1:]; ; {
		var tag pair
		if tag, rest, err = cutTag(rest); err != nil {
			return nil, tags, err
		}
		if tags = append(tags, tag); len(rest) == 0 {
			break
		}
	}
	return head[:end], tags, duplicateTag(tags)
}

// cutTag cuts the first tag off a list. Quotes mean nothing in tags.
func cutTag(list []byte) (tag pair, rest []byte, err error) {
	end := indexPlain(list, ',')
	if end < 0 {
		end = len(list)
	} else if rest = list[end+1:]; len(rest) == 0 {
		return tag, nil, errComma
	}
	list = list[:end]
	at := indexPlain(list, '=')
	if at <= 0 {
		return tag, nil, errNoPair(list)
	}
	tag = pair{list[:at], list[at+1:]}
	switch {
	case len(tag.value) == 0:
		return tag, nil, fmt.Errorf("tag %s has no value; %s", tag.key, correct)
	case indexPlain(tag.value, '=') >= 0:
		return tag, nil, fmt.Errorf("the value %q of tag %s has an equals sign without a backslash before it; escape that, and note that a backslash before a comma escapes the comma", tag.value[:min(len(tag.value), shown)], tag.key)
	}
	return tag, rest, nil
}

// duplicateTag returns an error where two tags have the same key.
func duplicateTag(tags []pair) error {
	const pairwise = 16 // comparisons of so many tags are cheaper than a map
	if len(tags) > pairwise {
		seen := make(map[string]bool, len(tags))
		for _, tag := range tags {
			if seen[string(tag.key)] {
				return errTwice("line", "tag", tag.key)
			}
			seen[string(tag.key)] = true
		}
		return nil
	}
	for i := range tags {
		for _, before := range tags[:i] {
			if bytes.Equal(before.key, tags[i].key) {
				return errTwice("line", "tag", before.key)
			}
		}
	}
	return nil
}

func errTwice(row, what string, name []byte) error {
	return fmt.Errorf("the %s has %s %s twice; %s", row, what, name, correct)
}

var errComma = errors.New("a comma has nothing behind it; " + correct)

func errNoPair(text []byte) error {
	return fmt.Errorf("%q is no key=value; %s, or %s", text[:min(len(text), shown)], correct, giveFormat)
}

// cutField cuts the first field off a list.
func cutField(list []byte) (field pair, rest []byte, err error) {
	at := indexPlain(list, '=')
	if at <= 0 || indexPlain(list[:at], ',') >= 0 {
		return field, nil, errNoPair(list)
	}
	field.key, rest = list[:at], list[at+1:]
	end := 0
	if len(rest) > 0 && rest[0] == '"' {
		if end = endOfQuotes(rest); end < 0 || end < len(rest) && rest[end] != ',' {
			return field, nil, fmt.Errorf("the text of %s is not closed; %s", field.key, correct)
		}
	} else if end = indexPlain(rest, ','); end < 0 {
		end = len(rest)
	}
	if field.value = rest[:end]; len(field.value) == 0 {
		return field, nil, fmt.Errorf("%s has no value; %s", field.key, correct)
	}
	if rest = rest[end:]; len(rest) > 0 {
		if rest = rest[1:]; len(rest) == 0 {
			return field, nil, errComma
		}
	}
	return field, rest, nil
}

// plainText appends a name or tag without the backslashes that escape a comma, a blank or
// an equals sign.
func plainText(dst, text []byte) []byte { return unescaped(dst, text, ", =") }

// plainMeasurement is plainText of a measurement, in which a backslash before an equals sign
// stands for itself.
func plainMeasurement(dst, text []byte) []byte { return unescaped(dst, text, ", ") }

func unescaped(dst, text []byte, special string) []byte {
	for i, b := range text {
		if b == '\\' && i+1 < len(text) && strings.IndexByte(special, text[i+1]) >= 0 {
			continue
		}
		dst = append(dst, b)
	}
	return dst
}

// unquoted appends the text of a quoted value.
func unquoted(dst, text []byte) []byte {
	text = text[1 : len(text)-1]
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\') {
			i++
		}
		dst = append(dst, text[i])
	}
	return dst
}

// valueType is the type of a value without quotes, and the digits of a number. It refuses
// whole numbers that their suffix does not hold; whether other digits are a number is
// found where they are read.
func valueType(text []byte) (kind series.Type, digits []byte, err error) {
	switch last := text[len(text)-1]; {
	case (last == 'i' || last == 'u') && text[0] <= '9': // as digits and signs are
		digits = text[:len(text)-1]
		return series.Int, digits, checkWhole(digits, last)
	case (last >= '0' && last <= '9' || last == '.') && text[0] != 't' && text[0] != 'f':
		if text[0] == '+' {
			return 0, nil, fmt.Errorf("%q begins with a plus sign; %s", text[:min(len(text), shown)], correct)
		}
		return series.Float, text, nil
	case strings.IndexByte("tTfF", text[0]) >= 0:
		return series.Bool, text, nil
	}
	return series.Float, text, nil
}

// checkWhole returns an error where digits are no whole number, or one that is too large
// for its suffix: of 64 bits with a sign, i, or without one, u.
func checkWhole(digits []byte, suffix byte) error {
	if _, ok := number.Int(digits); ok && (suffix == 'i' || digits[0] != '-') {
		return nil
	}
	if suffix == 'u' && wholeText(digits) && digits[0] != '-' {
		if _, err := strconv.ParseUint(string(digits), 10, 64); err == nil {
			return nil
		}
	}
	if wholeText(digits) {
		return fmt.Errorf("%s%c is outside the range of that suffix; write it as a float, without the suffix", digits[:min(len(digits), shown)], suffix)
	}
	return fmt.Errorf("\"%s%c\" is no integer; %s", digits[:min(len(digits), shown)], suffix, correct)
}

// marks remembers which fields a row has.
type marks struct {
	of    []uint32
	round uint32
}

// begin begins a row of so many fields.
func (m *marks) begin(fields int) {
	for len(m.of) < fields {
		m.of = append(m.of, 0)
	}
	if m.round++; m.round == 0 {
		clear(m.of)
		m.round = 1
	}
}

func (m *marks) set(field int) { m.of[field] = m.round }

func (m *marks) has(field int) bool { return m.of[field] == m.round }

// fillMissing sets the fields of the row at hand that it has not.
func (m *marks) fillMissing(f *filler) {
	for i := range f.table.Fields {
		if !m.has(i) {
			f.setNull(i)
		}
	}
}

// pointRows are the rows of a file of line protocol.
type pointRows struct {
	lines *pointLines
	index *index

	// heads are the measurements with tags that were read, as they stand in lines, and
	// what they are.
	heads  texts.List
	lookup *texts.Lookup
	of     []headOf

	marks marks
	text  []byte
	tags  []pair
}

// headOf is what a head stands for.
type headOf struct {
	table  *table // nil: its rows are left out
	series uint32
}

func newPointRows(lines *pointLines, x *index) *pointRows {
	p := &pointRows{lines: lines, index: x, lookup: texts.NewLookup()}
	p.heads.Reset()
	return p
}

// next implements rows.
func (p *pointRows) next(f *filler) error {
	for {
		cut, err := p.lines.next()
		if err != nil {
			return err
		}
		head, err := p.head(f, cut.head)
		if err != nil {
			return err
		}
		if head.table == nil {
			f.others++
			continue
		}
		f.begin(head.table)
		if err := p.fields(f, cut.fields); err != nil {
			return err
		}
		time, err := f.time("time", cut.time)
		if err != nil {
			return err
		}
		if f.finishOf(head.series, time) {
			return nil
		}
	}
}

// head finds out what a measurement with tags is.
func (p *pointRows) head(f *filler, text []byte) (headOf, error) {
	code, err := p.lookup.Code(&p.heads, text)
	if err != nil {
		return headOf{}, err
	}
	if int(code) < len(p.of) {
		return p.of[code], nil
	}
	of, err := p.newHead(f, text)
	if err == nil {
		p.of = append(p.of, of)
	}
	return of, err
}

func (p *pointRows) newHead(f *filler, text []byte) (of headOf, err error) {
	measurement, tags, err := cutHead(text, p.tags[:0])
	p.tags = tags
	if err != nil {
		return of, err
	}
	p.text = plainMeasurement(p.text[:0], measurement)
	if of.table = p.index.byName[string(p.text)]; of.table == nil {
		return of, nil
	}
	f.finder.begin(of.table)
	for _, tag := range tags {
		p.text = plainText(p.text[:0], tag.key)
		if at, ok := of.table.tagAt[string(p.text)]; ok {
			p.text = plainText(p.text[:0], tag.value)
			if err := f.tag(at, p.text); err != nil {
				return of, err
			}
		}
	}
	of.series, err = f.series()
	return of, err
}

// fields sets the fields of the row at hand.
func (p *pointRows) fields(f *filler, rest []byte) error {
	t := f.table
	p.marks.begin(len(t.Fields))
	for expected := 0; len(rest) > 0; expected++ {
		var of pair
		var err error
		if of, rest, err = cutField(rest); err != nil {
			return err
		}
		at := expected
		if at >= len(t.Fields) || string(of.key) != t.Fields[at].Name {
			p.text = plainText(p.text[:0], of.key)
			named, known := t.fieldAt[string(p.text)]
			if !known {
				continue
			}
			at, expected = named, named
		}
		if p.marks.has(at) {
			return errTwice("line", "field", of.key)
		}
		value, quoted := of.value, of.value[0] == '"'
		if quoted {
			p.text = unquoted(p.text[:0], value)
			value = p.text
		} else if kind, digits, err := valueType(value); err != nil {
			return fmt.Errorf("column %s: %w", t.Fields[at].Name, err)
		} else if kind == series.Int {
			value = digits
		}
		if err := f.field(at, value, quoted); err != nil {
			return err
		}
		p.marks.set(at)
	}
	p.marks.fillMissing(f)
	return nil
}

// place implements rows.
func (p *pointRows) place() Error { return Error{Line: p.lines.line} }
