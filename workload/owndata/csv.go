package owndata

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// csvRecords reads records of CSV: RFC 4180, with any delimiter of one byte, and empty
// lines left out.
type csvRecords struct {
	lines     *lineReader
	delimiter byte
	cells     [][]byte
	plain     []byte // texts of quoted cells that have quotes in them
	inQuotes  []bool // per cell; none: no cell of the record is in quotes
}

// errQuote is the error of quotes that do not end, or end within a cell.
var errQuote = errors.New("a quoted value is not closed, or is followed by something else than a delimiter; " + correct)

// errColumns is the error of a record that has not as many cells as the header.
func errColumns(cells int, columns []string) error {
	return fmt.Errorf("the row has %d columns, and the header %d; %s", cells, len(columns), cmp.Or(isComment(columns[0]), correct+", or give the right delimiter"))
}

// isComment says of a header that is none what to do; empty: it may be one.
func isComment(header string) string {
	const takeOut = "take it out, as by grep -v '^#'"
	switch {
	case strings.HasPrefix(header, "#group"), strings.HasPrefix(header, "#datatype"), strings.HasPrefix(header, "#default"):
		return "the header is one of InfluxDB's annotations; " + takeOut
	case strings.HasPrefix(header, "#"):
		return "the header looks like a comment; " + takeOut
	}
	return ""
}

// next returns the cells of the next record, which are valid until the next call;
// io.EOF: there is none. Its number is that of its first line.
func (c *csvRecords) next() ([][]byte, error) {
	line, err := c.lines.next()
	for err == nil && len(line) == 0 {
		line, err = c.lines.next()
	}
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(line, '"') >= 0 {
		return c.quoted(line)
	}
	c.inQuotes = c.inQuotes[:0]
	cells, begin := c.cells[:0], 0
	for i, b := range line {
		if b == c.delimiter {
			cells = append(cells, line[begin:i])
			begin = i + 1
		}
	}
	c.cells = append(cells, line[begin:])
	return c.cells, nil
}

// quoted is next of a record with quotes, which may go on over several lines.
func (c *csvRecords) quoted(line []byte) ([][]byte, error) {
	for {
		cells, open, err := c.split(line)
		if err != nil || !open {
			c.cells = cells
			return cells, err
		}
		more, err := c.lines.closing(endsQuoted)
		if errors.Is(err, io.EOF) {
			return nil, errQuote
		} else if err != nil {
			return nil, err
		}
		line = more
	}
}

// split splits a record; open reports that it ends within quotes.
func (c *csvRecords) split(line []byte) (cells [][]byte, open bool, err error) {
	cells, c.inQuotes = c.cells[:0], c.inQuotes[:0]
	c.plain = slices.Grow(c.plain[:0], len(line)) // so that cells in it stay where they are
	for at := 0; ; at++ {
		quoted := at < len(line) && line[at] == '"'
		c.inQuotes = append(c.inQuotes, quoted)
		if quoted {
			begin := len(c.plain)
			at++
			for {
				n := bytes.IndexByte(line[at:], '"')
				if n < 0 {
					return cells, true, nil
				}
				c.plain = append(c.plain, line[at:at+n]...)
				at += n + 1
				if at == len(line) || line[at] != '"' {
					break
				}
				c.plain = append(c.plain, '"')
				at++
			}
			if at < len(line) && line[at] != c.delimiter {
				return cells, false, errQuote
			}
			cells = append(cells, c.plain[begin:])
		} else {
			n := bytes.IndexByte(line[at:], c.delimiter)
			if n < 0 {
				n = len(line) - at
			}
			cells = append(cells, line[at:at+n])
			at += n
		}
		if at >= len(line) {
			return cells, false, nil
		}
	}
}

// separatorLine reads the line sep=; before the header, by which Excel is told the delimiter;
// 0: the first line is another one, which is read next.
func (c *csvRecords) separatorLine() (delimiter byte, err error) {
	line, err := c.lines.next()
	if err != nil {
		return 0, err
	}
	if line = bytes.Trim(line, `"`); len(line) == len("sep=;") && bytes.EqualFold(line[:4], []byte("sep=")) {
		return line[4], nil
	}
	c.lines.again()
	return 0, nil
}

// findDelimiter tells the delimiter by the first record: by the line sep=, or by the
// likeliest of those that come most often outside of quotes.
func findDelimiter(r io.Reader) (byte, error) {
	c := &csvRecords{lines: newLineReader(r)}
	if said, err := c.separatorLine(); said != 0 || err != nil {
		return said, err
	}
	line, err := c.lines.next()
	for err == nil && len(line) == 0 {
		line, err = c.lines.next()
	}
	var counts [256]int
	open, before := false, byte(0)
	for from := 0; err == nil; {
		for _, b := range line[from:] {
			switch {
			case b == '"' && (open || before == 0 || strings.IndexByte(delimiters, before) >= 0):
				open = !open
			case !open:
				counts[b]++
			}
			before = b
		}
		if !open {
			break
		}
		from = len(line)
		line, err = c.lines.more()
	}
	found, most := delimiters[0], 0
	for _, d := range []byte(delimiters) {
		if counts[d] > most {
			found, most = d, counts[d]
		}
	}
	return found, nil
}

// delimiters are those that are looked for, the likeliest first.
const delimiters = ",;\t|"

// endsQuoted reports whether a text within quotes ends in what is added to it: it has a
// quote that is not doubled.
func endsQuoted(added []byte) bool {
	for {
		at := bytes.IndexByte(added, '"')
		if at < 0 {
			return false
		}
		if at+1 == len(added) || added[at+1] != '"' {
			return true
		}
		added = added[at+2:]
	}
}

// quotes reports whether a cell of the record stands in quotes.
func (c *csvRecords) quotes(cell int) bool { return len(c.inQuotes) > 0 && c.inQuotes[cell] }

// role is what a column of a file becomes.
type role struct {
	what  roleKind
	place int  // of the tag or field in its table
	free  bool // it is a free field: blanks are part of its texts
}

type roleKind uint8

const (
	left roleKind = iota // the column is left out
	isTime
	isTimeOfDay
	isTag
	isField
)

// roles finds out what the columns of a file become, and which fields of the table it
// has not. Two roles of one column are an error, as is a missing time.
func (t *table) roles(columns []string, times ...string) (of []role, missing []int, err error) {
	of = make([]role, len(columns))
	places := make(map[string]int, len(columns))
	for i, name := range columns {
		places[name] = i
	}
	set := func(name string, r role) (has bool, err error) {
		at, ok := places[name]
		if !ok {
			return false, nil
		}
		if of[at].what != left {
			return true, fmt.Errorf("column %s is both time, tag or field; leave one out of time, tags and fields", name)
		}
		of[at] = r
		return true, nil
	}
	for i, name := range times {
		what := []roleKind{isTime, isTimeOfDay}[i]
		if has, err := set(name, role{what: what}); err != nil {
			return nil, nil, err
		} else if !has {
			return nil, nil, fmt.Errorf("has no column %q for the time; it has %s", name, some(columns))
		}
	}
	for i := range t.Tags {
		if _, err := set(t.Tags[i].Key, role{what: isTag, place: i}); err != nil {
			return nil, nil, err
		}
	}
	for i := range t.Fields {
		has, err := set(t.Fields[i].Name, role{isField, i, t.Fields[i].Free()})
		if err != nil {
			return nil, nil, err
		}
		if !has {
			missing = append(missing, i)
		}
	}
	return of, missing, nil
}

// timeColumns are the columns of the time: of dates and times of day, where there are two.
func (l *layout) timeColumns() []string {
	if l.timeOfDay != "" {
		return []string{l.time, l.timeOfDay}
	}
	return []string{l.time}
}

// some names the first few of a list.
func some(names []string) string {
	const most = 12
	text := ""
	for i, name := range names {
		switch {
		case i == most:
			return fmt.Sprintf("%s and %d more", text, len(names)-most)
		case i > 0:
			text += ", "
		}
		text += name
	}
	return text
}

// csvRows are the rows of a CSV file.
type csvRows struct {
	records csvRecords
	table   *table
	columns []string
	timeAt  int // which column has the time
	roles   []role
	missing []int
}

// openCSV begins to read CSV, whose first record is the header unless columns are given.
func openCSV(r io.Reader, delimiter byte, columns []string) (*csvRecords, []string, error) {
	c := &csvRecords{lines: newLineReader(r), delimiter: delimiter}
	said, err := c.separatorLine()
	switch {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, nil, err
	case said != 0 && said != delimiter:
		return nil, nil, fmt.Errorf("the line says that the delimiter is %q, and the files are read with %q; give the one that is right as own.delimiter, and correct the line", said, delimiter)
	}
	if len(columns) > 0 {
		return c, columns, nil
	}
	cells, err := c.next()
	if errors.Is(err, io.EOF) {
		return nil, nil, errors.New("is empty; give a file with rows, or leave it out")
	} else if err != nil {
		return nil, nil, err
	}
	if likeRow(cells) {
		return nil, nil, errNoHeader(string(bytes.Join(cells, []byte{delimiter})))
	}
	seen := make(map[string]bool, len(cells))
	for _, cell := range cells {
		name := string(bytes.TrimSpace(cell))
		switch {
		case !utf8.ValidString(name):
			return nil, nil, errName("column", []byte(name))
		case seen[name]:
			return nil, nil, fmt.Errorf("the header has two columns %q; %s", name, cmp.Or(isComment(string(cells[0])), "give names with columns, and the file without its header"))
		}
		columns, seen[name] = append(columns, name), true
	}
	return c, columns, nil
}

// next implements rows.
func (c *csvRows) next(f *filler) error {
	for {
		cells, err := c.records.next()
		if err != nil {
			return err
		}
		if len(cells) != len(c.roles) {
			return errColumns(len(cells), c.columns)
		}
		f.begin(c.table)
		var date, ofDay []byte
		for i, cell := range cells {
			// Blanks alone are a text in quotes, and no value without.
			quoted := c.records.quotes(i)
			if inner := trim(cell); len(inner) < len(cell) && f.absent(inner) && (len(inner) > 0 || !quoted) {
				cell = inner
			}
			switch r := c.roles[i]; r.what {
			case isField:
				if !r.free {
					cell = trim(cell)
				}
				err = f.field(r.place, cell, quoted)
			case isTag:
				err = f.tagText(r.place, cell, quoted)
			case isTime, isTimeOfDay:
				if cell = trim(cell); f.absent(cell) {
					err = noTime(c.columns[i])
				} else if r.what == isTime {
					date = cell
				} else {
					ofDay = cell
				}
			}
			if err != nil {
				return err
			}
		}
		for _, i := range c.missing {
			f.setNull(i)
		}
		time, err := f.timeOfTwo(c.columns[c.timeAt], date, ofDay)
		if err != nil {
			return err
		}
		if full, err := f.finish(time); full || err != nil {
			return err
		}
	}
}

// place implements rows.
func (c *csvRows) place() Error { return Error{Line: c.records.lines.line} }

// trim cuts off blanks.
func trim(text []byte) []byte {
	for len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	for len(text) > 0 && text[len(text)-1] == ' ' {
		text = text[:len(text)-1]
	}
	return text
}
