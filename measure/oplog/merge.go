package oplog

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Merged describes the result of Merge.
type Merged struct {
	Operations int64
	// Truncated holds the errors of truncated logs, by index of log. Their operations up to the
	// truncation were merged.
	Truncated map[int]error
}

// Merge merges several logs, of other clients or other runs, into one. The merged log begins when
// the first of them began, by the wall clocks of their clients, and times are shifted accordingly.
// Workers are renumbered so that those of different clients stay distinct, and equal cells become
// one. Blocks are in the order of their first operations. The contents of a truncated log are
// merged, and the end frame of the result counts such logs. Merge keeps a few blocks per log in
// memory.
func Merge(out io.Writer, logs ...*Reader) (Merged, error) {
	m := merger{cells: make(map[Cell]uint32), workers: make(map[[2]int]uint32)}
	if len(logs) == 0 {
		return m.merged, errors.New("merging operation logs: no logs")
	}
	h := logs[0].Header()
	for _, log := range logs[1:] {
		other := log.Header()
		h.Run, h.Client, h.Tool = common(h.Run, other.Run), common(h.Client, other.Client), common(h.Tool, other.Tool)
		if other.Start.Before(h.Start) {
			h.Start = other.Start
		}
	}
	var err error
	if m.out, err = newFrameWriter(out, h); err != nil {
		return m.merged, err
	}
	for i, log := range logs {
		source := &source{index: i, log: log, shift: log.Header().Start.Sub(h.Start)}
		if err := m.advance(source); err != nil {
			return m.merged, err
		}
	}
	for len(m.sources) > 0 && m.out.err == nil {
		if err := m.first(); err != nil {
			return m.merged, err
		}
	}
	m.merged.Operations = m.out.written
	m.out.json(endFrame, End{Operations: m.out.written, Lost: m.lost, Truncated: len(m.merged.Truncated)})
	return m.merged, m.out.err
}

// common returns what two headers agree on.
func common(a, b string) string {
	if a != b {
		return ""
	}
	return a
}

// source is one log that is being merged, with its next block.
type source struct {
	index int
	log   *Reader
	shift time.Duration
	ops   []Op
}

type merger struct {
	out     *frameWriter
	sources []*source // with a block each
	cells   map[Cell]uint32
	workers map[[2]int]uint32 // by log and its worker
	lost    int64
	merged  Merged
}

// first writes the block that begins first, and reads the one behind it.
func (m *merger) first() error {
	first := 0
	for i, s := range m.sources {
		if s.ops[0].Start+s.shift < m.sources[first].ops[0].Start+m.sources[first].shift {
			first = i
		}
	}
	s := m.sources[first]
	m.sources[first] = m.sources[len(m.sources)-1]
	m.sources = m.sources[:len(m.sources)-1]
	cell, err := m.cell(s.log.Cells()[s.ops[0].Cell])
	if err != nil {
		return err
	}
	key := [2]int{s.index, int(s.ops[0].Worker)}
	worker, known := m.workers[key]
	if !known {
		worker = uint32(len(m.workers))
		m.workers[key] = worker
	}
	for i := range s.ops {
		op := &s.ops[i]
		op.Cell, op.Worker = cell, worker
		op.Start += s.shift
		op.Intended += s.shift
	}
	m.out.block(s.ops)
	return m.advance(s)
}

// cell returns the number of a cell, and declares it if it is new.
func (m *merger) cell(c Cell) (uint32, error) {
	id, known := m.cells[c]
	if !known {
		if len(m.cells) == maxCells {
			return 0, fmt.Errorf("merging operation logs: more than %d cells", maxCells)
		}
		id = uint32(len(m.cells))
		m.cells[c] = id
		m.out.json(cellFrame, c)
	}
	return id, nil
}

// advance reads the next block of a log, and removes the log from the sources after its last block.
func (m *merger) advance(s *source) error {
	ops, err := s.log.block()
	switch {
	case err == nil:
		s.ops = ops
		m.sources = append(m.sources, s)
	case errors.Is(err, io.EOF):
		end := s.log.End()
		m.lost += end.Lost
		if end.Truncated > 0 {
			m.noteTruncated(s.index, fmt.Errorf("%w: %d of its source logs", ErrTruncated, end.Truncated))
		}
	case errors.Is(err, ErrTruncated):
		m.noteTruncated(s.index, err)
	default:
		return fmt.Errorf("log %d: %w", s.index+1, err)
	}
	return nil
}

func (m *merger) noteTruncated(index int, err error) {
	if m.merged.Truncated == nil {
		m.merged.Truncated = make(map[int]error)
	}
	m.merged.Truncated[index] = err
}
