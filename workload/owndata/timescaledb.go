package owndata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
)

// pairedRow is a row of TSBS's format timescaledb: a line of tags, and a line of the table,
// the time and the values.
type pairedRow struct {
	tags   []byte // ,key=value…
	table  []byte
	time   []byte
	values []byte // separated by commas
}

// pairedLines reads TSBS's format timescaledb. A header names the tags, and the fields of each
// table; an empty line ends it. Nothing is escaped.
type pairedLines struct {
	*lineReader
	tables map[string][]string // the names of the fields, by table
	tags   []byte
}

// beginPaired is how a file of the format begins, and each of its rows.
const beginPaired = "tags,"

// hasPairedHeader reports whether a text begins with the format's header: the names of tags and their types.
func hasPairedHeader(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return bytes.HasPrefix(line, []byte(beginPaired)) && bytes.IndexByte(line, '=') < 0 && bytes.IndexByte(line, ' ') > 0
}

// newPairedLines reads the header.
func newPairedLines(r io.Reader) (*pairedLines, error) {
	l := &pairedLines{lineReader: newLineReader(r), tables: make(map[string][]string)}
	line, err := l.lineReader.next()
	if err != nil || !hasPairedHeader(line) {
		return l, errors.Join(err, errors.New("the file does not begin with the header of timescaledb format; "+giveFormat))
	}
	for {
		if line, err = l.lineReader.next(); err != nil || bytes.HasPrefix(line, []byte(beginPaired)) {
			return l, errors.New("the header of timescaledb format has no end, an empty line; " + copyAgain)
		}
		if len(line) == 0 {
			return l, nil
		}
		names := bytes.Split(line, []byte{','})
		table := string(names[0])
		if len(names) < 2 || slices.ContainsFunc(names, func(n []byte) bool { return len(n) == 0 }) {
			return l, fmt.Errorf("%q is not a table and its fields; %s", line[:min(len(line), shown)], correct)
		}
		if l.tables[table] != nil {
			return l, errTwice("header", "table", names[0])
		}
		fields := make([]string, len(names)-1)
		for i, name := range names[1:] {
			fields[i] = string(name)
			if slices.Contains(fields[:i], fields[i]) {
				return l, errTwice("header", "field", name)
			}
		}
		l.tables[table] = fields
	}
}

// next returns the next row; io.EOF: there is none.
func (l *pairedLines) next() (row pairedRow, err error) {
	line, err := l.lineReader.next()
	if err != nil {
		return row, err
	}
	if !bytes.HasPrefix(line, []byte(beginPaired)) && string(line) != beginPaired[:len(beginPaired)-1] {
		return row, fmt.Errorf("a row begins with a line of tags, not with %q; %s", line[:min(len(line), shown)], correct)
	}
	l.tags = append(l.tags[:0], line[len(beginPaired)-1:]...)
	row.tags = l.tags
	line, err = l.lineReader.next()
	if errors.Is(err, io.EOF) || bytes.HasPrefix(line, []byte(beginPaired)) {
		return row, errors.New("a line of tags has no line of values behind it; " + copyAgain)
	} else if err != nil {
		return row, err
	}
	var found, timed bool
	if row.table, line, found = bytes.Cut(line, []byte{','}); found {
		row.time, row.values, timed = bytes.Cut(line, []byte{','})
	}
	if !timed {
		return row, errors.New("the line has no table, time and values; " + copyAgain)
	}
	return row, nil
}

// fieldsOf returns the names of a table's fields.
func (l *pairedLines) fieldsOf(table []byte) ([]string, error) {
	fields, known := l.tables[string(table)]
	if !known {
		return nil, fmt.Errorf("the header has no table %q; %s", table[:min(len(table), shown)], correct)
	}
	return fields, nil
}

// checkWidth returns an error where rows of a series have different numbers of values.
func checkWidth(values []byte, width int) error {
	if n := 1 + bytes.Count(values, []byte{','}); n != width {
		return fmt.Errorf("%d values, where other rows of the series have %d: a line was cut; %s", n, width, copyAgain)
	}
	return nil
}

// cutPairedTag cuts the first tag off a list, which begins with a comma.
func cutPairedTag(list []byte) (tag pair, rest []byte, err error) {
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
	return pair{list[:at], list[at+1:]}, rest, nil
}

// paired looks at a file of timescaledb format. Its error is io.EOF at the end.
func (p *profiler) paired(lines *pairedLines) ([]*profile, error) {
	var all []*profile
	byName := make(map[string]*profile)
	widths := make(map[string]int) // of series
	var key []byte
	for {
		row, err := lines.next()
		if err != nil {
			return all, err
		}
		p.at.Line = lines.line
		fields, err := lines.fieldsOf(row.table)
		if err != nil {
			return all, err
		}
		of := byName[string(row.table)]
		if of == nil {
			if err := p.addTable(row.table); err != nil {
				return all, err
			}
			of = newProfile(string(row.table), p.at.File)
			of.time = newColumn(timeOfPoints)
			of.time.typed = series.Int
			for _, name := range fields {
				if err := p.addColumn(of, []byte(name)); err != nil {
					return all, err
				}
				of.column(name)
			}
			byName[of.name], all = of, append(all, of)
		}
		key = append(append(key[:0], row.table...), row.tags...)
		if width, known := widths[string(key)]; !known {
			if err := p.pairedTags(of, row.tags); err != nil {
				return all, err
			}
			if width = 1 + bytes.Count(row.values, []byte{','}); width > len(fields) {
				return all, fmt.Errorf("%d values, where the header names %d fields; %s", width, len(fields), correct)
			}
			if len(widths) < maxDistinct*10 { // others are cut each time
				widths[string(key)] = width
			}
		} else if err := checkWidth(row.values, width); err != nil {
			return all, err
		}
		for i, rest, more := 0, row.values, true; more; i++ {
			var value []byte
			if value, rest, more = bytes.Cut(rest, []byte{','}); !p.absent(value) {
				of.byName[fields[i]].add(value, p)
			}
		}
		if err := p.lineTime(of, row.time); err != nil {
			return all, err
		}
	}
}

// pairedTags looks at the tags of a series.
func (p *profiler) pairedTags(of *profile, tags []byte) error {
	var list []pair
	for len(tags) > 0 {
		var tag pair
		var err error
		if tag, tags, err = cutPairedTag(tags); err != nil {
			return err
		}
		list = append(list, tag)
		c := of.tags[string(tag.key)]
		if c == nil {
			if err := p.addColumn(of, tag.key); err != nil {
				return err
			}
			c = of.tag(string(tag.key))
		}
		if c.remember(tag.value); c.notUTF8.none() && !utf8.Valid(tag.value) {
			c.notUTF8.add(tag.value, &p.at, 1)
		}
	}
	return duplicateTag(list)
}

// pairedRows are the rows of a file of timescaledb format.
type pairedRows struct {
	lines *pairedLines
	index *index

	// heads are the tables with tags that were read, and what they are.
	heads  texts.List
	lookup *texts.Lookup
	of     []pairedHead
	key    []byte
}

// pairedHead is what a table and tags stand for.
type pairedHead struct {
	headOf
	fields  []int // per value, its place in the table; -1: it is not loaded
	missing []int // fields of the table that the series does not have
}

func newPairedRows(lines *pairedLines, x *index) *pairedRows {
	p := &pairedRows{lines: lines, index: x, lookup: texts.NewLookup()}
	p.heads.Reset()
	return p
}

// next implements rows.
func (p *pairedRows) next(f *filler) error {
	for {
		row, err := p.lines.next()
		if err != nil {
			return err
		}
		p.key = append(append(p.key[:0], row.table...), row.tags...)
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
			f.others++
			continue
		}
		if err := checkWidth(row.values, len(head.fields)); err != nil {
			return err
		}
		f.begin(head.table)
		rest := row.values
		for _, field := range head.fields {
			var value []byte
			if value, rest, _ = bytes.Cut(rest, []byte{','}); field >= 0 {
				if err := f.field(field, value, false); err != nil {
					return err
				}
			}
		}
		for _, field := range head.missing {
			f.setNull(field)
		}
		time, err := f.time(timeOfPoints, row.time)
		if err != nil {
			return err
		}
		if f.finishOf(head.series, time) {
			return nil
		}
	}
}

// head finds out what the table and the tags of a row are.
func (p *pairedRows) head(f *filler, row pairedRow) (of pairedHead, err error) {
	if of.table = p.index.byName[string(row.table)]; of.table == nil {
		return of, nil
	}
	names, err := p.lines.fieldsOf(row.table)
	if err != nil {
		return of, err
	}
	width := 1 + bytes.Count(row.values, []byte{','})
	if width > len(names) {
		return of, fmt.Errorf("%d values, where the header names %d fields; %s", width, len(names), correct)
	}
	found := make([]bool, len(of.table.Fields))
	for _, name := range names[:width] {
		at, known := of.table.fieldAt[name]
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
	f.finder.begin(of.table)
	for rest := row.tags; len(rest) > 0; {
		var tag pair
		if tag, rest, err = cutPairedTag(rest); err != nil {
			return of, err
		}
		if at, known := of.table.tagAt[string(tag.key)]; known {
			if err := f.tagText(at, tag.value, false); err != nil {
				return of, err
			}
		}
	}
	of.series, err = f.series()
	return of, err
}

// place implements rows.
func (p *pairedRows) place() Error { return Error{Line: p.lines.line} }
