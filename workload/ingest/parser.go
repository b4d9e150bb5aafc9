package ingest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/internal/number"
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

	missing   []int  // fields that the row at hand does not have, and found
	missingAt []int  // where fields stand in missing that were passed over
	scratch   []byte // a row whose lines lie in several texts
	bad       []*LineError
}

func newParser(s *Source, c *catalog) *parser {
	p := &parser{source: s, catalog: c, row: (*parser).influx}
	if s.format == TimescaleDB {
		p.row = (*parser).timescaleDB
	}
	return p
}

// found takes the place of a field in missing that came later in the row.
const found = -1

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

// follow makes b the row's begin, and the expected successor of the previous one.
func (p *parser) follow(b *begin) {
	if p.last != nil && !b.open {
		p.last.follower.Store(b)
	}
	p.last = b
}

// guess returns the expected begin of the text, derived from the previous row, or nil if the text
// has another one.
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
	t, ok := number.Int(text)
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
		if f == found {
			continue
		}
		if c := &p.run.Columns[f]; c.Ints != nil {
			c.Ints[row] = 0
		} else {
			c.Floats[row] = 0
		}
		p.run.SetNull(f, row)
	}
	p.rows++
}
