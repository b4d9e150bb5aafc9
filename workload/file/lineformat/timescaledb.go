package lineformat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tsmark/tsmark/internal/texts"
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
	tags   []byte
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
	if err != nil || !HasPairedHeader(line) {
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
func (l *PairedLines) Next() (row PairedRow, err error) {
	line, err := l.LineReader.Next()
	if err != nil {
		return row, err
	}
	if !bytes.HasPrefix(line, []byte(beginPaired)) && string(line) != beginPaired[:len(beginPaired)-1] {
		return row, fmt.Errorf("a row begins with a line of tags, not with %q; %s", line[:min(len(line), input.MaxShown)], input.CorrectLine)
	}
	l.tags = append(l.tags[:0], line[len(beginPaired)-1:]...)
	row.Tags = l.tags
	line, err = l.LineReader.Next()
	if errors.Is(err, io.EOF) || bytes.HasPrefix(line, []byte(beginPaired)) {
		return row, errors.New("a line of tags has no line of values behind it; " + input.CopyAgain)
	} else if err != nil {
		return row, err
	}
	if !l.EndsLine() {
		return row, errors.New("the file ends in the middle of a line; " + input.CopyAgain)
	}
	var found, timed bool
	if row.Table, line, found = bytes.Cut(line, []byte{','}); found {
		row.Time, row.Values, timed = bytes.Cut(line, []byte{','})
	}
	if !timed {
		return row, errors.New("the line has no table, time and values; " + input.CopyAgain)
	}
	return row, nil
}

// FieldsOf returns the names of a table's fields.
func (l *PairedLines) FieldsOf(table []byte) ([]string, error) {
	fields, known := l.tables[string(table)]
	if !known {
		return nil, fmt.Errorf("the header has no table %q; %s", table[:min(len(table), input.MaxShown)], input.CorrectLine)
	}
	return fields, nil
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

// PairedRows are the rows of a file of timescaledb format.
type PairedRows struct {
	lines *PairedLines
	index *input.Index

	// heads holds the tables with tags read so far, with their parsed form.
	heads  texts.List
	lookup *texts.Lookup
	of     []pairedHead
	key    []byte
}

// pairedHead is the parsed form of a table and tags.
type pairedHead struct {
	headOf
	fields  []int // per value, its place in the table; -1: it is not loaded
	missing []int // fields of the table that the series does not have
}

func NewPairedRows(lines *PairedLines, x *input.Index) *PairedRows {
	p := &PairedRows{lines: lines, index: x, lookup: texts.NewLookup()}
	p.heads.Reset()
	return p
}

// Next fills rows until the filler is full, or returns io.EOF after the last one.
func (p *PairedRows) Next(f *input.Filler) error {
	for {
		row, err := p.lines.Next()
		if err != nil {
			return err
		}
		p.key = append(append(p.key[:0], row.Table...), row.Tags...)
		code, err := p.lookup.Code(&p.heads, p.key)
		if err != nil {
			return err
		}
		if int(code) == len(p.of) {
			head, err := p.head(f, row)
			if err != nil {
				return err
			}
			p.of = append(p.of, head)
		}
		head := &p.of[code]
		if head.table == nil {
			f.Ignored++
			continue
		}
		if err := CheckWidth(row.Values, len(head.fields)); err != nil {
			return err
		}
		f.Begin(head.table)
		rest := row.Values
		for _, field := range head.fields {
			var value []byte
			if value, rest, _ = bytes.Cut(rest, []byte{','}); field >= 0 {
				if err := f.Field(field, value, false); err != nil {
					return err
				}
			}
		}
		for _, field := range head.missing {
			f.SetNull(field)
		}
		time, err := f.Time(input.TimeOfPoints, row.Time)
		if err != nil {
			return err
		}
		if f.FinishSeries(head.series, time) {
			return nil
		}
	}
}

// head finds out what the table and the tags of a row are.
func (p *PairedRows) head(f *input.Filler, row PairedRow) (of pairedHead, err error) {
	if of.table = p.index.ByName[string(row.Table)]; of.table == nil {
		return of, nil
	}
	names, err := p.lines.FieldsOf(row.Table)
	if err != nil {
		return of, err
	}
	width := 1 + bytes.Count(row.Values, []byte{','})
	if width > len(names) {
		return of, fmt.Errorf("%d values, where the header names %d fields; %s", width, len(names), input.CorrectLine)
	}
	found := make([]bool, len(of.table.Fields))
	for _, name := range names[:width] {
		at, known := of.table.FieldAt[name]
		if !known {
			at = -1
		} else {
			found[at] = true
		}
		of.fields = append(of.fields, at)
	}
	for at := range found {
		if !found[at] {
			of.missing = append(of.missing, at)
		}
	}
	f.Finder.Begin(of.table)
	for rest := row.Tags; len(rest) > 0; {
		var tag Pair
		if tag, rest, err = CutPairedTag(rest); err != nil {
			return of, err
		}
		if at, known := of.table.TagAt[string(tag.Key)]; known {
			if err := f.TagText(at, tag.Value, false); err != nil {
				return of, err
			}
		}
	}
	of.series, err = f.Series()
	return of, err
}

// Place returns the place of the row at hand, without the file.
func (p *PairedRows) Place() input.Error { return input.Error{Line: p.lines.Line} }
