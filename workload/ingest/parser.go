package ingest

import (
	"bytes"
	"errors"
	"strings"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/lineformat"
)

// parser turns chunks into batches. It is used by one goroutine.
type parser struct {
	source *Source
	filler input.Filler
	points *lineformat.PointRows  // of influx format
	pairs  *lineformat.PairedRows // of timescaledb format

	scratch []byte // a row whose lines lie in several texts
	bad     []*LineError
}

// newParser returns a parser of a source's rows, whose heads it shares with others.
func newParser(s *Source, heads *lineformat.Heads) (*parser, error) {
	clock, err := input.NewClock("ns")
	if err != nil {
		return nil, err
	}
	clock.Whole = true
	p := &parser{source: s, filler: input.Filler{Clock: clock, Generated: true, TimeDigits: s.digits}}
	if s.format == TimescaleDB {
		p.pairs = lineformat.NewPairedRows(s.paired, heads)
	} else {
		p.points = lineformat.NewPointRows(nil, heads)
	}
	return p, nil
}

// errShort means that a text does not hold a whole row.
var errShort = errors.New("no whole row")

// row reads a row from the beginning of the text and returns how long it was.
func (p *parser) row(text []byte) (int, error) {
	end := bytes.IndexByte(text, '\n') + 1
	switch {
	case end == 0:
		return 0, errShort
	case p.points != nil:
		return end, p.points.Line(&p.filler, text[:end-1])
	}
	length := bytes.IndexByte(text[end:], '\n')
	if length < 0 {
		if err := lineformat.CheckTags(text[:end-1]); err != nil {
			return end, err
		}
		return 0, errShort
	}
	_, err := p.pairs.Row(&p.filler, text[:end+length], end)
	if err != nil && (errors.Is(err, lineformat.ErrNoValues) || lineformat.CheckTags(text[:end-1]) != nil) {
		return end, err // the second line may begin a row
	}
	return end + length + 1, err
}

// chunk fills the batch with the rows of the chunk. It passes over bad lines and gathers them, at
// most as many as given and one.
func (p *parser) chunk(c *Chunk, b *series.Batch, skip int64) {
	p.filler.Reset(b, c.Rows)
	p.bad, p.scratch = p.bad[:0], p.scratch[:0]
	line, perRow := c.line, int64(p.source.format.lines())
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
			n, err := p.row(from)
			if err == errShort {
				if len(p.scratch) == 0 {
					p.scratch = append(p.scratch, text...)
					text = nil
				}
				continue
			}
			if err != nil {
				p.spoil(line, from[:n], err)
				line += int64(bytes.Count(from[:n], newline))
			} else {
				line += perRow
			}
			if len(p.scratch) > 0 {
				p.scratch = append(p.scratch[:0], p.scratch[n:]...)
			} else {
				text = text[n:]
			}
		}
	}
	if len(p.scratch) > 0 && int64(len(p.bad)) <= skip {
		p.spoil(line, p.scratch, lineformat.ErrNoValues)
	}
	p.filler.End()
	if c.cut != nil {
		p.bad = append(p.bad, c.cut)
	}
}

// spoil records a bad row. Of two lines the one is named that is to blame.
func (p *parser) spoil(line int64, text []byte, err error) {
	problem, mismatch := err.Error(), errors.As(err, new(*lineformat.MismatchError))
	if !mismatch {
		if at := bytes.IndexByte(text, '\n') + 1; at > 0 && at < len(text) {
			line, text = line+1, text[at:]
		}
		if at := strings.LastIndex(problem, "; "); at >= 0 {
			problem = problem[:at] // LineError says how to fix it
		}
	}
	p.bad = append(p.bad, &LineError{
		Source: p.source.name, Line: line, Text: bytes.Clone(text[:min(len(text), shownBytes+1)]), Problem: problem, remedied: mismatch,
	})
}
