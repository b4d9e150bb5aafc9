package lineformat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tsmark/tsmark/workload/file/input"
)

// PairedRow is a row of TSBS's format timescaledb: a line of tags, and a line of the table,
// the time and the values.
type PairedRow struct {
	Tags   []byte // ,key=value…
	Table  []byte
	Time   []byte
	Values []byte // separated by commas
}

// PairedLines reads TSBS's format timescaledb. A header names the tags, and the fields of each
// table; an empty line ends it. Nothing is escaped.
type PairedLines struct {
	*input.LineReader
	tables map[string][]string // the names of the fields, by table
}

// beginPaired is the beginning of a file in this format, and of each of its rows.
const beginPaired = "tags,"

// HasPairedHeader reports whether a text begins with the format's header: the names of tags and their types.
func HasPairedHeader(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return bytes.HasPrefix(line, []byte(beginPaired)) && bytes.IndexByte(line, '=') < 0 && bytes.IndexByte(line, ' ') > 0
}

// NewPairedLines reads the header.
func NewPairedLines(r io.Reader) (*PairedLines, error) {
	l := &PairedLines{LineReader: input.NewLineReader(r), tables: make(map[string][]string)}
	line, err := l.LineReader.Next()
	if err != nil || CheckTags(line) != nil || bytes.IndexByte(line, '=') >= 0 {
		return l, errors.Join(err, errors.New("the file does not begin with the header of timescaledb format; "+input.NameFormat))
	}
	for {
		if line, err = l.LineReader.Next(); err != nil || bytes.HasPrefix(line, []byte(beginPaired)) {
			return l, errors.New("the header of timescaledb format has no end, an empty line; " + input.CopyAgain)
		}
		if len(line) == 0 {
			return l, nil
		}
		names := bytes.Split(line, []byte{','})
		table := string(names[0])
		if len(names) < 2 || slices.ContainsFunc(names, func(n []byte) bool { return len(n) == 0 }) {
			return l, fmt.Errorf("%q is not a table and its fields; %s", line[:min(len(line), input.MaxShown)], input.CorrectLine)
		}
		if l.tables[table] != nil {
			return l, input.DuplicateError("header", "table", names[0])
		}
		fields := make([]string, len(names)-1)
		for i, name := range names[1:] {
			fields[i] = string(name)
			if slices.Contains(fields[:i], fields[i]) {
				return l, input.DuplicateError("header", "field", name)
			}
		}
		l.tables[table] = fields
	}
}

// Next returns the next row, or io.EOF.
func (l *PairedLines) Next() (PairedRow, error) {
	text, first, err := l.next()
	if err != nil {
		return PairedRow{}, err
	}
	return cutPaired(text, first)
}

// next returns the lines of the next row, and where the second one begins.
func (l *PairedLines) next() (text []byte, first int, err error) {
	line, err := l.LineReader.Next()
	if err != nil {
		return nil, 0, err
	}
	if err := CheckTags(line); err != nil {
		return nil, 0, err
	}
	first = len(line)
	text, err = l.Join()
	if errors.Is(err, io.EOF) {
		return nil, 0, ErrNoValues
	} else if err != nil {
		return nil, 0, err
	}
	first += 1 + bytes.IndexByte(text[first:], '\n')
	if !l.EndsLine() && !bytes.HasPrefix(text[first:], []byte(beginPaired)) {
		return nil, 0, errors.New("the file ends in the middle of a line; " + input.CopyAgain)
	}
	return text, first, nil
}

// CheckTags returns an error where a line is not the first one of a row.
func CheckTags(line []byte) error {
	if !bytes.HasPrefix(line, []byte(beginPaired)) && string(line) != beginPaired[:len(beginPaired)-1] {
		return fmt.Errorf("a row begins with a line of tags, not with %q; %s", line[:min(len(line), input.MaxShown)], input.CorrectLine)
	}
	return nil
}

// ErrNoValues is the error of a row without its second line.
var ErrNoValues = errors.New("a line of tags has no line of values behind it; " + input.CopyAgain)

// cutPaired cuts the lines of a row. CheckTags accepted the first one.
func cutPaired(text []byte, first int) (row PairedRow, err error) {
	tags, values := text[len(beginPaired)-1:first-1], text[first:]
	if bytes.HasPrefix(values, []byte(beginPaired)) {
		return row, ErrNoValues
	}
	row.Tags = bytes.TrimSuffix(tags, []byte{'\r'})
	var found, timed bool
	if row.Table, values, found = bytes.Cut(values, []byte{','}); found {
		row.Time, row.Values, timed = bytes.Cut(values, []byte{','})
	}
	if !timed {
		return row, errUntimed
	}
	return row, nil
}

var errUntimed = errors.New("the line has no table, time and values; " + input.CopyAgain)

// FieldsOf returns the names of a table's fields.
func (l *PairedLines) FieldsOf(table []byte) ([]string, error) {
	fields, known := l.tables[string(table)]
	if !known {
		return nil, fmt.Errorf("the header has no table %q; %s", table[:min(len(table), input.MaxShown)], input.CorrectLine)
	}
	return fields, nil
}

// errTooWide is the error of a row with more values than the header has fields.
func errTooWide(width, names int) error {
	return fmt.Errorf("%d values, where the header names %d fields; %s", width, names, input.CorrectLine)
}

// CheckWidth returns an error where rows of a series have different numbers of values.
func CheckWidth(values []byte, width int) error {
	if n := 1 + bytes.Count(values, []byte{','}); n != width {
		return fmt.Errorf("%d values, where other rows of the series have %d: a line was cut; %s", n, width, input.CopyAgain)
	}
	return nil
}

// CutPairedTag cuts the first tag off a list, which begins with a comma.
func CutPairedTag(list []byte) (tag Pair, rest []byte, err error) {
	list = list[1:]
	end := bytes.IndexByte(list, ',')
	if end < 0 {
		end = len(list)
	}
	list, rest = list[:end], list[end:]
	at := bytes.IndexByte(list, '=')
	if at <= 0 {
		return tag, nil, errNoPair(list)
	}
	return Pair{list[:at], list[at+1:]}, rest, nil
}
