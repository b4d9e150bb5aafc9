// Package lineformat reads the formats whose lines declare tags and fields: line protocol, and
// TSBS's format timescaledb.
package lineformat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
)

// Point is a line of line protocol, split into its parts, which are still escaped.
type Point struct {
	Head   []byte // the measurement and its tags
	Fields []byte
	Time   []byte
}

// PointLines reads points, one per line. It skips comments, and the statements that create a
// database before the first point, between the comments # DDL and # DML, as in files for "influx
// -import".
type PointLines struct {
	*input.LineReader
	points     bool // there was one
	statements bool // the line at hand is a statement
}

func NewPointLines(r io.Reader) *PointLines { return &PointLines{LineReader: input.NewLineReader(r)} }

var errStatements = errors.New("the statements behind # DDL do not end: no line # DML follows; put one before the first point")

// comment looks at a line that begins with #.
func (l *PointLines) comment(line []byte) {
	switch text := bytes.TrimSpace(line[1:]); {
	case bytes.EqualFold(text, []byte("DDL")):
		l.statements = !l.points
	case bytes.EqualFold(text, []byte("DML")):
		l.statements = false
	}
}

// Next returns the parts of the next line with a point, or io.EOF. A quoted text may span several
// lines.
func (l *PointLines) Next() (Point, error) {
	for {
		line, err := l.next()
		if err != nil {
			return Point{}, err
		}
		if cut, found, err := l.cut(line); found || err != nil {
			return cut, err
		}
	}
}

// next returns the next line.
func (l *PointLines) next() ([]byte, error) {
	line, err := l.LineReader.Next()
	if errors.Is(err, io.EOF) && l.statements {
		return nil, errStatements
	}
	return line, err
}

// cut cuts the line at hand; found: it has a point.
func (l *PointLines) cut(line []byte) (cut Point, found bool, err error) {
	if line = input.TrimBlanks(line); len(line) == 0 {
		return cut, false, nil
	}
	if line[0] == '#' {
		l.comment(line)
		return cut, false, nil
	}
	if l.statements {
		return cut, false, nil
	}
	l.points = true
	cut, err = cutPoint(line)
	for errors.Is(err, errOpen) {
		if line, err = l.Closing(func(added []byte) bool { return endOfText(added) >= 0 }); errors.Is(err, io.EOF) {
			return cut, true, errOpen
		} else if err == nil {
			cut, err = cutPoint(input.TrimBlanks(line))
		}
	}
	return cut, true, err
}

// errOpen is the error of a line that ends within quotes.
var errOpen = errors.New("a text has no closing quote")

// cutPoint cuts a line that is not empty.
func cutPoint(line []byte) (p Point, err error) {
	at := indexPlain(line, ' ')
	if at <= 0 {
		return p, errors.New("the line has no blank behind its measurement and tags, so it is not line protocol; " + input.CorrectLine + ", or " + input.NameFormat)
	}
	p.Head, line = line[:at], bytes.TrimLeft(line[at:], " ")
	end := endOfFields(line)
	if end < 0 {
		return p, errOpen
	}
	p.Fields, p.Time = line[:end], input.TrimBlanks(line[end:])
	if len(p.Fields) == 0 {
		return p, errors.New("the line has no fields; " + input.CorrectLine)
	}
	if len(p.Time) == 0 {
		if indexPlain(p.Fields, '=') < 0 {
			return p, errors.New("the line has no fields behind its tags; note that a backslash before a blank escapes the blank; " + input.CorrectLine)
		}
		return p, input.ErrNoRowTime
	}
	return p, nil
}

// indexPlain returns the index of the first unescaped c; -1: not found.
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

// endOfFields returns the index of the blank that ends the fields, or of the end of the text; -1:
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

// Pair is a tag or a field of a line, still escaped.
type Pair struct{ Key, Value []byte }

// CutHead cuts a head into its measurement and its tags, which it appends to a list. It
// refuses the tags that InfluxDB refuses.
func CutHead(head []byte, tags []Pair) (measurement []byte, _ []Pair, err error) {
	end := indexPlain(head, ',')
	if end < 0 {
		return head, tags, nil
	}
	if end == 0 {
		return nil, tags, errors.New("the line has no measurement before its first comma; " + input.CorrectLine + ", or " + input.NameFormat)
	}
	for rest := head[end+1:]; ; {
		var tag Pair
		if tag, rest, err = cutTag(rest); err != nil {
			return nil, tags, err
		}
		if tags = append(tags, tag); len(rest) == 0 {
			break
		}
	}
	return head[:end], tags, DuplicateTag(tags)
}

// cutTag cuts the first tag off a list. Quotes mean nothing in tags.
func cutTag(list []byte) (tag Pair, rest []byte, err error) {
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
	tag = Pair{list[:at], list[at+1:]}
	switch {
	case len(tag.Value) == 0:
		return tag, nil, fmt.Errorf("tag %s has no value; %s", tag.Key, input.CorrectLine)
	case indexPlain(tag.Value, '=') >= 0:
		return tag, nil, fmt.Errorf("the value %q of tag %s has an equals sign without a backslash before it; escape that, and note that a backslash before a comma escapes the comma", tag.Value[:min(len(tag.Value), input.MaxShown)], tag.Key)
	}
	return tag, rest, nil
}

// DuplicateTag returns an error where two tags have the same key.
func DuplicateTag(tags []Pair) error {
	const pairwise = 16 // up to this many tags, comparing all pairs is cheaper than a map
	if len(tags) > pairwise {
		seen := make(map[string]bool, len(tags))
		for _, tag := range tags {
			if seen[string(tag.Key)] {
				return input.DuplicateError("line", "tag", tag.Key)
			}
			seen[string(tag.Key)] = true
		}
		return nil
	}
	for i := range tags {
		for _, before := range tags[:i] {
			if bytes.Equal(before.Key, tags[i].Key) {
				return input.DuplicateError("line", "tag", before.Key)
			}
		}
	}
	return nil
}

var errComma = errors.New("a comma has nothing behind it; " + input.CorrectLine)

func errNoPair(text []byte) error {
	return fmt.Errorf("%q is not key=value; %s, or %s", text[:min(len(text), input.MaxShown)], input.CorrectLine, input.NameFormat)
}

// CutField cuts the first field off a list.
func CutField(list []byte) (field Pair, rest []byte, err error) {
	at := indexPlain(list, '=')
	if at <= 0 || indexPlain(list[:at], ',') >= 0 {
		return field, nil, errNoPair(list)
	}
	field.Key, rest = list[:at], list[at+1:]
	end := 0
	if len(rest) > 0 && rest[0] == '"' {
		if end = endOfQuotes(rest); end < 0 || end < len(rest) && rest[end] != ',' {
			return field, nil, fmt.Errorf("the text of %s is not closed; %s", field.Key, input.CorrectLine)
		}
	} else if end = indexPlain(rest, ','); end < 0 {
		end = len(rest)
	}
	if field.Value = rest[:end]; len(field.Value) == 0 {
		return field, nil, fmt.Errorf("%s has no value; %s", field.Key, input.CorrectLine)
	}
	if rest = rest[end:]; len(rest) > 0 {
		if rest = rest[1:]; len(rest) == 0 {
			return field, nil, errComma
		}
	}
	return field, rest, nil
}

// PlainText appends a name or tag without the backslashes that escape a comma, a blank or
// an equals sign.
func PlainText(dst, text []byte) []byte { return unescape(dst, text, ", =") }

// PlainMeasurement is PlainText of a measurement, in which a backslash before an equals sign
// stands for itself.
func PlainMeasurement(dst, text []byte) []byte { return unescape(dst, text, ", ") }

func unescape(dst, text []byte, special string) []byte {
	for i, b := range text {
		if b == '\\' && i+1 < len(text) && strings.IndexByte(special, text[i+1]) >= 0 {
			continue
		}
		dst = append(dst, b)
	}
	return dst
}

// Unquote appends the text of a quoted value.
func Unquote(dst, text []byte) []byte {
	text = text[1 : len(text)-1]
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\') {
			i++
		}
		dst = append(dst, text[i])
	}
	return dst
}

// ValueType returns the type of an unquoted value, and the digits of a number. It rejects integers
// out of the range of their suffix; other digits are validated when they are parsed.
func ValueType(text []byte) (kind series.Type, digits []byte, err error) {
	switch last := text[len(text)-1]; {
	case (last == 'i' || last == 'u') && text[0] <= '9': // as digits and signs are
		digits = text[:len(text)-1]
		return series.Int, digits, checkWhole(digits, last)
	case (last >= '0' && last <= '9' || last == '.') && text[0] != 't' && text[0] != 'f':
		if text[0] == '+' {
			return 0, nil, fmt.Errorf("%q begins with a plus sign; %s", text[:min(len(text), input.MaxShown)], input.CorrectLine)
		}
		return series.Float, text, nil
	case strings.IndexByte("tTfF", text[0]) >= 0:
		return series.Bool, text, nil
	}
	return series.Float, text, nil
}

// checkWhole returns an error if digits are not an integer, or one that is out of the range of its
// suffix: signed 64 bits for i, unsigned for u.
func checkWhole(digits []byte, suffix byte) error {
	if _, ok := number.Int(digits); ok && (suffix == 'i' || digits[0] != '-') {
		return nil
	}
	if suffix == 'u' && input.WholeText(digits) && digits[0] != '-' {
		if _, err := strconv.ParseUint(string(digits), 10, 64); err == nil {
			return nil
		}
	}
	if input.WholeText(digits) {
		return fmt.Errorf("%s%c is outside the range of that suffix; write it as a float, without the suffix", digits[:min(len(digits), input.MaxShown)], suffix)
	}
	return fmt.Errorf("\"%s%c\" is not an integer; %s", digits[:min(len(digits), input.MaxShown)], suffix, input.CorrectLine)
}

// Marks remembers which fields a row has.
type Marks struct {
	of    []uint32
	round uint32
}

// Begin begins a row with a number of fields.
func (m *Marks) Begin(fields int) {
	for len(m.of) < fields {
		m.of = append(m.of, 0)
	}
	if m.round++; m.round == 0 {
		clear(m.of)
		m.round = 1
	}
}

func (m *Marks) Set(field int) { m.of[field] = m.round }

func (m *Marks) Has(field int) bool { return m.of[field] == m.round }

// FillMissing sets the fields of the row at hand that it has not.
func (m *Marks) FillMissing(f *input.Filler) {
	for i := range f.Table.Fields {
		if !m.Has(i) {
			f.SetNull(i)
		}
	}
}
