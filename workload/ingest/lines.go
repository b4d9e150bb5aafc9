package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Chunk is whole rows as text. It is filled, used and filled again.
type Chunk struct {
	Text [][]byte // one after the other; a line may go on in the next element
	Rows int

	line   int64 // number of the first line
	pieces []*piece
	cut    *LineError // what follows the last row, if that is not a whole one
}

// Release ends the use of Text. A chunk that is filled again was released.
func (c *Chunk) Release() {
	for _, p := range c.pieces {
		p.release()
	}
	clear(c.pieces)
	clear(c.Text)
	c.Text, c.pieces, c.Rows, c.cut = c.Text[:0], c.pieces[:0], 0, nil
}

// add adds text of a piece, which the chunk uses from now on.
func (c *Chunk) add(p *piece, text []byte) {
	if len(text) == 0 {
		return
	}
	p.users.Add(1)
	c.Text, c.pieces = append(c.Text, text), append(c.pieces, p)
}

// String names the chunk so that a user can find it again.
func (c *Chunk) String() string { return fmt.Sprintf("%d rows from line %d on", c.Rows, c.line) }

// Lines is one pass over a source's rows as unparsed lines. It only looks for line ends. It is used
// by one goroutine.
type Lines struct {
	source *Source
	from   pieces
	line   int64

	current *piece
	rest    []byte // of current
	left    int    // ends of lines in rest
	ahead   *piece // after current, if that has been looked at
	ended   bool

	// SkipBad is the maximum number of bad lines to skip, Skipped the number skipped so far. A
	// source that ends within a line has a bad line.
	SkipBad, Skipped int64

	// Limit is the maximum number of rows; 0: all rows.
	Limit    int64
	rowCount int64
}

// Lines starts a pass over the rows.
func (s *Source) Lines() (*Lines, error) {
	from, err := s.pieces()
	if err != nil {
		return nil, err
	}
	return &Lines{source: s, from: from, line: s.firstLine()}, nil
}

const (
	// maxChunk is the maximum number of bytes of a chunk, whatever the number of rows requested.
	maxChunk = 128 << 20
	// maxLine is the maximum length of a line.
	maxLine = 64 << 20
)

// Close ends the pass, wherever it is.
func (l *Lines) Close() error {
	l.from.close()
	return nil
}

// Next fills the chunk with the next rows, at most max, and fewer if they have very many fields. It
// returns io.EOF with an empty chunk after the last row, and a *LineError if the source ends within
// a row.
func (l *Lines) Next(c *Chunk, max int) error {
	if l.Limit > 0 {
		if max = int(min(int64(max), l.Limit-l.rowCount)); max == 0 {
			c.Release()
			return io.EOF
		}
	}
	err := l.next(c, max)
	l.rowCount += int64(c.Rows)
	if err != nil || c.cut == nil {
		return err
	}
	if l.Skipped++; l.Skipped > l.SkipBad {
		return c.cut
	}
	if c.Rows == 0 {
		c.Release()
		return io.EOF
	}
	return nil
}

// RowCount returns how many rows have been passed.
func (l *Lines) RowCount() int64 { return l.rowCount }

// next is Next without judging the end.
func (l *Lines) next(c *Chunk, max int) error {
	c.Release()
	c.line = l.line
	perRow := l.source.format.lines()
	wanted := max * perRow // ends of lines
	last := false
	size := int64(0)
	for wanted > 0 {
		if size > maxChunk {
			// No more than the row that it ends in.
			wanted = min(wanted, perRow-int(l.line-c.line)%perRow)
		}
		if size > maxChunk+int64(perRow)*maxLine {
			return &LineError{Source: l.source.name, Line: l.line, Text: bytes.Clone(c.Text[len(c.Text)-1][:shownBytes+1]), Problem: fmt.Sprintf("a line of more than %d MiB; generate the file again", maxLine>>20), remedied: true}
		}
		if l.current == nil {
			if err := l.advance(); errors.Is(err, io.EOF) {
				last = true
				break
			} else if err != nil {
				return l.source.readError(err)
			}
		}
		if l.left < wanted {
			wanted -= l.left
			l.line += int64(l.left)
			size += int64(len(l.rest))
			c.add(l.current, l.rest)
			l.drop()
			continue
		}
		at := nthLineEnd(l.rest, wanted, l.left)
		c.add(l.current, l.rest[:at])
		l.rest, l.left = l.rest[at:], l.left-wanted
		l.line += int64(wanted)
		wanted = 0
		// Where a line was lost, rows do not begin at every second one.
		if perRow == 2 {
			begins, err := l.beginsRow()
			if err != nil {
				return err
			}
			if !begins {
				wanted = 1
			}
		}
	}
	if last {
		l.finish(c)
	}
	c.Rows = int(l.line-c.line) / perRow
	if len(c.Text) == 0 && c.cut == nil {
		return io.EOF
	}
	return nil
}

// finish removes an incomplete row at the end of the source.
func (l *Lines) finish(c *Chunk) {
	bad := func(problem string, line int64, text []byte) {
		c.cut = &LineError{Source: l.source.name, Line: line, Text: bytes.Clone(text[:min(len(text), shownBytes+1)]), Problem: problem, remedied: true}
	}
	if len(c.Text) == 0 {
		return
	}
	// The last line may lie in several texts.
	var tail []byte
	for i := len(c.Text) - 1; i >= 0; i-- {
		at := bytes.LastIndexByte(c.Text[i], '\n') + 1
		tail = append(bytes.Clone(c.Text[i][at:]), tail...)
		c.Text[i] = c.Text[i][:at]
		if at > 0 {
			break
		}
	}
	if len(tail) > 0 {
		bad("the source ends in the middle of a line; generate or copy it again", l.line, tail)
	} else if l.source.format.lines() == 2 && (l.line-c.line)%2 != 0 {
		last := c.Text[len(c.Text)-1]
		if at := bytes.LastIndexByte(last[:max(0, len(last)-1)], '\n') + 1; bytes.HasPrefix(last[at:], []byte("tags,")) {
			bad("the source ends after a row's tags; generate or copy it again", l.line-1, last[at:])
		}
	}
}

// advance makes the next piece the current one.
func (l *Lines) advance() error {
	p := l.ahead
	l.ahead = nil
	if p == nil {
		if l.ended {
			return io.EOF
		}
		var err error
		if p, err = l.from.next(); err != nil {
			l.ended = errors.Is(err, io.EOF)
			return err
		}
	}
	l.current, l.rest, l.left = p, p.data, p.lines
	return nil
}

func (l *Lines) drop() {
	l.current.release()
	l.current, l.rest, l.left = nil, nil, 0
}

// beginsRow reports whether the next line can begin a row of two lines. It returns true at the end.
func (l *Lines) beginsRow() (bool, error) {
	const begin = "tags,"
	if len(l.rest) < len(begin) && l.ahead == nil && !l.ended {
		p, err := l.from.next()
		if errors.Is(err, io.EOF) {
			l.ended = true
		} else if err != nil {
			return false, l.source.readError(err)
		}
		l.ahead = p
	}
	n := min(len(begin), len(l.rest))
	if string(l.rest[:n]) != begin[:n] {
		return false, nil
	}
	if n < len(begin) && l.ahead != nil {
		m := min(len(begin)-n, len(l.ahead.data))
		return string(l.ahead.data[:m]) == begin[n:n+m], nil
	}
	return true, nil
}

// nthLineEnd returns where the nth of all line ends of the text ends.
func nthLineEnd(text []byte, n, all int) int {
	if n == all {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	at := 0
	const stride = 4 << 10
	for at+stride < len(text) {
		lines := bytes.Count(text[at:at+stride], newline)
		if lines >= n {
			break
		}
		n -= lines
		at += stride
	}
	for ; n > 0; n-- {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at
}
