package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/series"
)

// parser turns chunks into batches. It is used by one goroutine.
type parser struct {
	source  *Source
	catalog *catalog
	row     func(p *parser, text []byte) (int, error)

	last  *begin // of the row before
	batch *series.Batch
	run   *series.Run
	table *table // of run
	rows  int    // of run that are filled; it has room for more
	total int    // rows of the chunk at most

	timeText []byte // of the row before
	time     int64

	missing []int  // fields that the row at hand does not have
	scratch []byte // a row whose lines lie in several texts
	bad     []*LineError
}

func newParser(s *Source, c *catalog) *parser {
	p := &parser{source: s, catalog: c, row: (*parser).influx}
	if s.format == TimescaleDB {
		p.row = (*parser).timescaleDB
	}
	return p
}

// errShort means that a text does not hold a whole row.
var errShort = errors.New("no whole row")

// chunk fills the batch with the rows of the chunk. It passes over bad lines
// and gathers them, at most as many as given and one.
func (p *parser) chunk(c *Chunk, b *series.Batch, skip int64) {
	b.Reset()
	p.batch, p.run, p.table, p.rows, p.total = b, nil, nil, 0, c.Rows
	p.bad, p.scratch = p.bad[:0], p.scratch[:0]
	line := c.line
	for _, text := range c.Text {
		for len(text) > 0 && int64(len(p.bad)) <= skip {
			from := text
			if len(p.scratch) > 0 {
				end := bytes.IndexByte(text, '\n') + 1
				if end == 0 {
					end = len(text)
				}
				p.scratch = append(p.scratch, text[:end]...)
				text, from = text[end:], p.scratch
			}
			n, err := p.row(p, from)
			if err == errShort {
				if len(p.scratch) == 0 {
					p.scratch = append(p.scratch, text...)
					text = nil
				}
				continue
			}
			if err != nil {
				p.spoil(line, from[:n], err)
			}
			line += int64(bytes.Count(from[:n], newline))
			if len(p.scratch) > 0 {
				p.scratch = append(p.scratch[:0], p.scratch[n:]...)
			} else {
				text = text[n:]
			}
		}
	}
	if len(p.scratch) > 0 && int64(len(p.bad)) <= skip {
		p.spoil(line, p.scratch, errors.New("the row has no line of values"))
	}
	if p.run != nil {
		p.run.Grow(p.rows)
	}
	if c.cut != nil {
		p.bad = append(p.bad, c.cut)
	}
}

// spoil records a bad row. Of two lines the one is named that is to blame.
func (p *parser) spoil(line int64, text []byte, err error) {
	var in *valuesError
	if at := bytes.IndexByte(text, '\n') + 1; errors.As(err, &in) && at > 0 && at < len(text) {
		line, text = line+1, text[at:]
	}
	p.bad = append(p.bad, &LineError{
		Source: p.source.name, Line: line, Text: bytes.Clone(text[:min(len(text), shownBytes+1)]), Problem: err.Error(),
	})
}

// valuesError is a problem with the second line of a row.
type valuesError struct{ error }

// place makes room for a row of the table and returns its number in the run.
func (p *parser) place(t *table) int {
	if t != p.table {
		if p.run != nil {
			p.run.Grow(p.rows)
			p.total -= p.rows
		}
		p.run, p.table, p.rows = p.batch.Add(t.Table), t, 0
	}
	if p.rows == p.run.Rows() {
		// Rows come one by one, room for them does not.
		p.run.Grow(max(p.rows+1, min(max(2*p.rows, 16), p.total)))
	}
	return p.rows
}

// discard takes back a run that was begun for a row that turned out bad.
func (p *parser) discard() {
	if p.rows == 0 {
		p.batch.Runs = p.batch.Runs[:len(p.batch.Runs)-1]
		p.table, p.run = nil, nil
	}
}

// follow makes b the row's begin, and what is expected after the one before.
func (p *parser) follow(b *begin) {
	if p.last != nil && !b.open {
		p.last.follower.Store(b)
	}
	p.last = b
}

// guess returns the begin of the text, as far as the row before says. It is
// nil where that was wrong.
func (p *parser) guess(text []byte) *begin {
	if p.last == nil {
		return nil
	}
	b := p.last.follower.Load()
	if b == nil || len(text) < len(b.text) || string(text[:len(b.text)]) != string(b.text) {
		return nil
	}
	p.last = b
	return b
}

// timeOf reads a time. Rows of an epoch share it.
func (p *parser) timeOf(text []byte) (int64, error) {
	if string(text) == string(p.timeText) && len(text) > 0 {
		return p.time, nil
	}
	t, ok := parseInt(text)
	if !ok {
		return 0, fmt.Errorf("the time %q is no whole number of nanoseconds", short(text))
	}
	if len(text) < p.source.digits && t >= 0 {
		return 0, fmt.Errorf("the time %q has fewer digits than the first row's: the line was cut", text)
	}
	p.time, p.timeText = t, append(p.timeText[:0], text...)
	return t, nil
}

// short is a text for messages.
func short(text []byte) []byte { return text[:min(len(text), shownBytes)] }

// finish ends a row at hand, whose values are in their places.
func (p *parser) finish(b *begin, row int, time int64) {
	p.run.Times[row], p.run.Series[row] = time, b.series
	for _, f := range p.missing {
		if c := &p.run.Columns[f]; c.Ints != nil {
			c.Ints[row] = 0
		} else {
			c.Floats[row] = 0
		}
		p.run.SetNull(f, row)
	}
	p.rows++
}

// influx reads a row of influx format from the beginning of the text and
// returns how long it was.
func (p *parser) influx(text []byte) (int, error) {
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		return 0, errShort
	}
	line := text[:end]
	b := p.guess(line)
	at := 0
	bare := false // no field but numeric tags
	if b != nil {
		at = len(b.text)
	} else {
		var err error
		if b, at, bare, err = p.beginInflux(line); err != nil {
			return end + 1, err
		}
		p.follow(b)
	}
	row := p.place(b.table)
	if err := p.influxFields(b, line, at, bare, row); err != nil {
		p.discard()
		return end + 1, err
	}
	return end + 1, nil
}

// beginInflux finds the begin of a line that was not the one expected, and
// where its fields begin; bare where there are none.
func (p *parser) beginInflux(line []byte) (b *begin, at int, bare bool, err error) {
	space := bytes.IndexByte(line, ' ')
	if space <= 0 {
		return nil, 0, false, errors.New("no space between tags and fields")
	}
	head := line[:space]
	comma := bytes.IndexByte(head, ',')
	if comma < 0 {
		comma = space
	}
	at = space + 1
	key := line[:at]
	if t := p.catalog.table(head[:comma]); t != nil {
		for _, numeric := range t.numeric {
			if !bytes.HasPrefix(line[at:], []byte(numeric)) {
				continue
			}
			end := bytes.IndexAny(line[at:], ", ")
			if end < 0 {
				return nil, 0, false, errors.New("no time after the fields")
			}
			at += end + 1
			key = line[:at]
			if line[at-1] == ' ' {
				bare, key = true, append(bytes.Clone(line[:at-1]), ',')
				break
			}
		}
	}
	if b = p.catalog.find(key); b == nil {
		b, err = p.catalog.resolve(key, head[:comma], line[comma:space], -1)
	}
	return b, at, bare, err
}

// influxFields reads the fields from at on, and the time.
func (p *parser) influxFields(b *begin, line []byte, at int, bare bool, row int) error {
	columns, keys := p.run.Columns, b.table.keys
	p.missing = p.missing[:0]
	next := 0
	for !bare {
		var f int
		rest := line[at:]
		if next < b.width && len(rest) > len(keys[next]) && string(rest[:len(keys[next])]) == keys[next] {
			f = next
			next++
		} else {
			var err error
			if f, err = p.otherField(b, rest, next); err != nil {
				return err
			}
			next = max(next, f+1)
		}
		at += len(keys[f])
		c := &columns[f]
		switch field := &b.table.Fields[f]; field.Type {
		case series.Int, series.Int32, series.Timestamp, series.Date:
			n := uint64(0)
			begin := at
			for ; at < len(line); at++ {
				d := line[at] - '0'
				if d > 9 {
					break
				}
				n = n*10 + uint64(d)
			}
			if at+1 >= len(line) || at == begin || at > begin+18 || line[at] != 'i' || line[at+1] != ',' && line[at+1] != ' ' {
				v, end, err := otherInt(line, begin)
				if err != nil {
					return fmt.Errorf("field %s: %w", b.table.Fields[f].Name, err)
				}
				n, at = uint64(v), end
			}
			c.Ints[row] = int64(n)
			at++ // the i
			if field.Type == series.Int32 && beyond(field.Type, c.Ints[row]) {
				return fmt.Errorf("field %s: %q does not fit into the type %v", field.Name, short(line[begin:at]), field.Type)
			}
		case series.Float:
			begin := at
			for at < len(line) && line[at] != ',' && line[at] != ' ' {
				at++
			}
			v, ok := parseFloat(line[begin:at])
			if !ok {
				return fmt.Errorf("field %s: %q is no decimal number", field.Name, short(line[begin:at]))
			}
			c.Floats[row] = v
		default:
			begin := at
			for at < len(line) && line[at] != ',' && line[at] != ' ' {
				at++
			}
			if err := influxValue(field, c, row, line[begin:at]); err != nil {
				return fmt.Errorf("field %s: %q %w", field.Name, short(line[begin:at]), err)
			}
		}
		if at >= len(line) {
			return errors.New("no time after the fields")
		}
		at++
		if line[at-1] == ' ' {
			break
		}
	}
	for ; next < b.width; next++ {
		p.missing = append(p.missing, next)
	}
	time, err := p.timeOf(line[at:])
	if err != nil {
		return err
	}
	p.finish(b, row, time)
	return nil
}

// otherField finds the field whose key the text begins with, which is not the
// next one. Those that it passes over are missing, unless they come later.
func (p *parser) otherField(b *begin, text []byte, next int) (int, error) {
	end := bytes.IndexByte(text, '=')
	if end < 0 || bytes.IndexByte(text[:end], ' ') >= 0 {
		return 0, fmt.Errorf("%q is no field=value", short(text))
	}
	key := text[:end+1]
	f := -1
	for i := range b.table.keys {
		if b.table.keys[(next+i)%len(b.table.keys)] == string(key) {
			f = (next + i) % len(b.table.keys)
			break
		}
	}
	switch {
	case f < 0:
		return 0, fmt.Errorf("table %s has no field %q%s", b.table.Name, key[:end], p.newField())
	case f >= b.width:
		return 0, fmt.Errorf("the series has no field %q: it has %d fields", key[:end], b.width)
	case f >= next:
		for ; next < f; next++ {
			p.missing = append(p.missing, next)
		}
		return f, nil
	}
	at := slices.Index(p.missing, f)
	if at < 0 {
		return 0, fmt.Errorf("field %q is there twice", key[:end])
	}
	p.missing = slices.Delete(p.missing, at, at+1)
	return f, nil
}

// newField says what to do about a field that comes too late to be known.
func (p *parser) newField() string {
	switch {
	case p.catalog.known != nil:
		return " in this dataset; check the flags that say what generated the file"
	case p.source.Once():
		return " so far; give the file's name in place of standard input, or the flags that say what generated it"
	}
	return ""
}

// otherInt reads an integer and its suffix i that the shorter way does not. It
// returns where the suffix is.
func otherInt(line []byte, begin int) (v int64, suffix int, err error) {
	end := begin
	for end < len(line) && line[end] != ',' && line[end] != ' ' {
		end++
	}
	text := line[begin:end]
	if len(text) > 0 && text[len(text)-1] == 'i' {
		if v, ok := parseInt(text[:len(text)-1]); ok {
			return v, end - 1, nil
		}
	}
	if _, ok := parseFloat(text); ok {
		return 0, 0, fmt.Errorf("%q is a float, where other rows have an integer such as 1i", short(text))
	}
	return 0, 0, fmt.Errorf("%q is no integer such as 1i", short(text))
}

// timescaleDB reads a row of timescaledb format, two lines, from the beginning
// of the text and returns how long it was.
func (p *parser) timescaleDB(text []byte) (int, error) {
	first := bytes.IndexByte(text, '\n') + 1
	if first == 0 {
		return 0, errShort
	}
	b := p.guess(text)
	if b == nil && !bytes.HasPrefix(text, []byte("tags")) {
		return first, errors.New("a row begins with a line of tags")
	}
	end := bytes.IndexByte(text[first:], '\n')
	if end < 0 {
		return 0, errShort
	}
	end += first
	var at int
	if b != nil {
		at = len(b.text)
	} else {
		comma := bytes.IndexByte(text[first:end], ',')
		switch {
		case bytes.HasPrefix(text[first:end], []byte("tags,")):
			return first, errors.New("no line of values after these tags")
		case comma <= 0:
			return end + 1, &valuesError{errors.New("no table and time before the values")}
		}
		at = first + comma + 1
		var err error
		if b = p.catalog.find(text[:at]); b == nil {
			name := text[first : at-1]
			if b, err = p.catalog.resolve(text[:at], name, text[len("tags"):first-1], bytes.Count(text[at:end], []byte{','})); err != nil {
				return end + 1, err
			}
		}
		p.follow(b)
	}
	row := p.place(b.table)
	if err := p.timescaleDBValues(b, text[at:end], row); err != nil {
		p.discard()
		return end + 1, &valuesError{err}
	}
	return end + 1, nil
}

// timescaleDBValues reads a time and the values after it.
func (p *parser) timescaleDBValues(b *begin, line []byte, row int) error {
	at := bytes.IndexByte(line, ',')
	if at < 0 {
		return errors.New("no values after the time")
	}
	time, err := p.timeOf(line[:at])
	if err != nil {
		return err
	}
	columns, fields := p.run.Columns, b.table.Fields
	p.missing = p.missing[:0]
	f := 0
	for ; at < len(line) && f < b.width && f < len(fields); f++ {
		at++ // the comma before the value
		begin := at
		c := &columns[f]
		field := &fields[f]
		switch missing := at == len(line) || line[at] == ','; {
		case missing:
			p.missing = append(p.missing, f)
		case field.Type == series.Int:
			n := uint64(0)
			for ; at < len(line); at++ {
				d := line[at] - '0'
				if d > 9 {
					break
				}
				n = n*10 + uint64(d)
			}
			if at == begin || at > begin+18 || at < len(line) && line[at] != ',' {
				for at < len(line) && line[at] != ',' {
					at++
				}
				v, ok := parseInt(line[begin:at])
				if !ok {
					return fmt.Errorf("field %s: %q is no whole number%s", fields[f].Name, short(line[begin:at]), p.newType(line[begin:at]))
				}
				n = uint64(v)
			}
			c.Ints[row] = int64(n)
		case field.Type == series.Float:
			for at < len(line) && line[at] != ',' {
				at++
			}
			v, ok := parseFloat(line[begin:at])
			if !ok {
				return fmt.Errorf("field %s: %q is no decimal number", field.Name, short(line[begin:at]))
			}
			c.Floats[row] = v
		default:
			for at < len(line) && line[at] != ',' {
				at++
			}
			if err := plainValue(field, c, row, line[begin:at]); err != nil {
				return fmt.Errorf("field %s: %q %w", field.Name, short(line[begin:at]), err)
			}
		}
	}
	if at < len(line) || f < b.width {
		return fmt.Errorf("%d values, where other rows of the series have %d: a line was cut", 1+bytes.Count(line, []byte{','})-1, b.width)
	}
	for ; f < len(fields) && b.table.Widths == nil; f++ {
		p.missing = append(p.missing, f)
	}
	p.finish(b, row, time)
	return nil
}

// newType says what to do about a float where only integers were so far.
func (p *parser) newType(text []byte) string {
	if _, ok := parseFloat(text); ok && p.catalog.known == nil {
		return ", as all were so far; give the file's name in place of standard input, or the flags that say what generated it"
	}
	return ""
}
