// Package delimited reads CSV.
package delimited

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tsmark/tsmark/workload/file/input"
)

// Records reads records of CSV: RFC 4180, with any delimiter of one byte, and empty
// lines left out.
type Records struct {
	Lines     *input.LineReader
	delimiter byte
	cells     [][]byte
	plain     []byte // texts of quoted cells that have quotes in them
	inQuotes  []bool // per cell; none: no cell of the record is in quotes
}

// NewRecords returns the records of lines.
func NewRecords(lines *input.LineReader, delimiter byte) *Records {
	return &Records{Lines: lines, delimiter: delimiter}
}

// errQuote is the error of quotes that do not end, or end within a cell.
var errQuote = errors.New("a quoted value is not closed, or is followed by something else than a delimiter; " + input.CorrectLine)

// WidthError is the error of a record that has not as many cells as the header.
func WidthError(cells int, columns []string) error {
	return fmt.Errorf("the row has %d columns, and the header %d; %s", cells, len(columns), cmp.Or(isComment(columns[0]), input.CorrectLine+", or give the right delimiter"))
}

// isComment returns advice for a first line that is a comment and not a header; empty: it may be a
// header.
func isComment(header string) string {
	const takeOut = "take it out, as by grep -v '^#'"
	switch {
	case strings.HasPrefix(header, "#"):
		return "the header looks like a comment; " + takeOut
	}
	return ""
}

// Next returns the cells of the next record, which are valid until the next call, or io.EOF. The
// record's number is the number of its first line.
func (c *Records) Next() ([][]byte, error) {
	line, err := c.Lines.Next()
	for err == nil && len(line) == 0 {
		line, err = c.Lines.Next()
	}
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(line, '"') >= 0 {
		return c.nextQuoted(line)
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

// nextQuoted is Next of a record with quotes, which may go on over several lines.
func (c *Records) nextQuoted(line []byte) ([][]byte, error) {
	for {
		cells, open, err := c.split(line)
		if err != nil || !open {
			c.cells = cells
			return cells, err
		}
		more, err := c.Lines.Closing(endsQuoted)
		if errors.Is(err, io.EOF) {
			return nil, errQuote
		} else if err != nil {
			return nil, err
		}
		line = more
	}
}

// split splits a record; open reports that it ends within quotes.
func (c *Records) split(line []byte) (cells [][]byte, open bool, err error) {
	cells, c.inQuotes = c.cells[:0], c.inQuotes[:0]
	c.plain = slices.Grow(c.plain[:0], len(line)) // so that appending does not move its cells
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

// separatorLine reads the line sep= before the header, which sets the delimiter for Excel; 0: the
// first line is another one, and is read next.
func (c *Records) separatorLine() (delimiter byte, err error) {
	line, err := c.Lines.Next()
	if err != nil {
		return 0, err
	}
	if line = bytes.Trim(line, `"`); len(line) == len("sep=;") && bytes.EqualFold(line[:4], []byte("sep=")) {
		return line[4], nil
	}
	c.Lines.Again()
	return 0, nil
}

// FindDelimiter detects the delimiter from the first record: from the line sep=, or as the most
// frequent delimiter outside of quotes. The likelier one wins a tie.
func FindDelimiter(r io.Reader) (byte, error) {
	c := &Records{Lines: input.NewLineReader(r)}
	if said, err := c.separatorLine(); said != 0 || err != nil {
		return said, err
	}
	line, err := c.Lines.Next()
	for err == nil && len(line) == 0 {
		line, err = c.Lines.Next()
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
		line, err = c.Lines.Extend()
	}
	found, most := delimiters[0], 0
	for _, d := range []byte(delimiters) {
		if counts[d] > most {
			found, most = d, counts[d]
		}
	}
	return found, nil
}

// delimiters lists the detectable delimiters, the likeliest first.
const delimiters = ",;\t|"

// endsQuoted reports whether a quoted text ends in the added bytes: they contain a quote that is
// not doubled.
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

// Quotes reports whether a cell of the record is quoted.
func (c *Records) Quotes(cell int) bool { return len(c.inQuotes) > 0 && c.inQuotes[cell] }

// Rows are the rows of a CSV file.
type Rows struct {
	Records Records
	Table   *input.Table
	Columns []string
	TimeAt  int // which column has the time
	Roles   []input.Role
	Missing []int
	Comma   bool // decimals of numbers have a comma
	number  []byte
}

// Open begins to read CSV, whose first record is the header unless columns are given.
func Open(r io.Reader, delimiter byte, columns []string) (*Records, []string, error) {
	c := &Records{Lines: input.NewLineReader(r), delimiter: delimiter}
	said, err := c.separatorLine()
	switch {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, nil, err
	case said != 0 && said != delimiter:
		return nil, nil, fmt.Errorf("the line says that the delimiter is %q, and the files are read with %q; give the correct one as own.delimiter, and correct the line", said, delimiter)
	}
	if len(columns) > 0 {
		return c, columns, nil
	}
	cells, err := c.Next()
	if errors.Is(err, io.EOF) {
		return nil, nil, errors.New("is empty; give a file with rows, or leave it out")
	} else if err != nil {
		return nil, nil, err
	}
	if likeRow(cells) {
		return nil, nil, HeaderError(string(bytes.Join(cells, []byte{delimiter})))
	}
	seen := make(map[string]bool, len(cells))
	for _, cell := range cells {
		name := string(bytes.TrimSpace(cell))
		switch {
		case !utf8.ValidString(name):
			return nil, nil, input.NameError("column", []byte(name))
		case seen[name]:
			return nil, nil, fmt.Errorf("the header has two columns %q; %s", name, cmp.Or(isComment(string(cells[0])), "give names with columns, and the file without its header"))
		}
		columns, seen[name] = append(columns, name), true
	}
	return c, columns, nil
}

// RowError is the error of a malformed row. The next call of Next reads the row behind it.
type RowError struct{ error }

// Unwrap returns the cause.
func (e RowError) Unwrap() error { return e.error }

// Next fills rows until the filler is full, or returns io.EOF after the last one. Of a malformed row
// it returns a RowError.
func (c *Rows) Next(f *input.Filler) error {
	for {
		cells, err := c.Records.Next()
		if err != nil {
			return err
		}
		if full, err := c.row(cells, f); err != nil {
			return RowError{err}
		} else if full {
			return nil
		}
	}
}

// row puts a row into the filler, and reports whether that is full.
func (c *Rows) row(cells [][]byte, f *input.Filler) (full bool, err error) {
	if len(cells) != len(c.Roles) {
		return false, WidthError(len(cells), c.Columns)
	}
	f.Begin(c.Table)
	var date, ofDay []byte
	for i, cell := range cells {
		// Blanks alone are a text in quotes, and no value without.
		quoted := c.Records.Quotes(i)
		if inner := input.TrimBlanks(cell); len(inner) < len(cell) && f.Absent(inner) && (len(inner) > 0 || !quoted) {
			cell = inner
		}
		switch r := c.Roles[i]; r.What {
		case input.RoleField:
			if !r.Free {
				cell = input.TrimBlanks(cell)
			}
			if c.Comma && c.Table.Fields[r.Place].Type.Numeric() {
				var ok bool
				if c.number, ok = input.AppendPoint(c.number[:0], cell); !ok {
					return false, fmt.Errorf("column %s: %q has a point for decimals, and others have a comma (own.decimal); %s", c.Columns[i], cell[:min(len(cell), input.MaxShown)], input.CorrectLine)
				}
				cell = c.number
			}
			err = f.Field(r.Place, cell, quoted)
		case input.RoleTag:
			err = f.TagText(r.Place, cell, quoted)
		case input.RoleTime, input.RoleTimeOfDay:
			if cell = input.TrimBlanks(cell); f.Absent(cell) {
				err = input.MissingTimeError(c.Columns[i])
			} else if r.What == input.RoleTime {
				date = cell
			} else {
				ofDay = cell
			}
		}
		if err != nil {
			return false, err
		}
	}
	for _, i := range c.Missing {
		f.SetNull(i)
	}
	time, err := f.TimeOfTwo(c.Columns[c.TimeAt], date, ofDay)
	if err != nil {
		return false, err
	}
	return f.Finish(time)
}

// Place returns the place of the row at hand, without the file.
func (c *Rows) Place() input.Error { return input.Error{Line: c.Records.Lines.Line} }

// LikeValue reports whether a text is a number or a time, as names of columns hardly are.
func LikeValue(text []byte) bool {
	_, err := (&input.Clock{}).Text(text)
	return err == nil || input.IsNumber(text)
}

// likeRow reports whether the cells of a header look like those of a row: all are numbers, times,
// or empty.
func likeRow(cells [][]byte) bool {
	values := 0
	for _, cell := range cells {
		if cell = input.TrimBlanks(cell); len(cell) == 0 {
			continue
		}
		if !LikeValue(cell) {
			return false
		}
		values++
	}
	return values > 0
}

// HeaderError is the error of a first line that is a row.
func HeaderError(value string) error {
	return fmt.Errorf("the header looks like a row, and would be lost: %q; name the columns with own.columns, as in --columns time,price, or give the header other names", value)
}
