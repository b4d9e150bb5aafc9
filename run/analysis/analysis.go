// Package analysis derives the figures of a run again from its operation log.
package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
)

// Analysis is what a log tells.
type Analysis struct {
	Header oplog.Header
	Cells  []Figures // by target, repeat, setting, kind and part, else in the order of the log
	// Truncated is why the log has no end; empty: it has. The figures are those
	// of what was read.
	Truncated string
	Lost      int64 // operations that the log says it does not have
}

// Figures are those of one cell, as the engine's: all but what only settings,
// verification or the target itself tell.
type Figures struct {
	oplog.Cell
	Load     *result.Load    // of a load
	Response *result.Latency `json:",omitempty"` // of a load's batches, from when they were due; nil: no rate was set
	Queries  *result.Queries // of a query type
	Outcomes map[oplog.Outcome]int64
}

// Log reads a log to its end. Period is that of the rates of loads; 0: one for
// the whole load. A log that was cut off is no error; a damaged one is. Memory
// is about 300 KiB for each histogram of a cell, and 8 bytes for each question
// of a type, however often it was asked.
func Log(log *oplog.Reader, period time.Duration) (*Analysis, error) {
	a := &Analysis{Header: log.Header()}
	var cells []*cell
	var op oplog.Op
	err := log.Next(&op)
	for ; err == nil; err = log.Next(&op) {
		for n := len(cells); n < len(log.Cells()); n++ {
			cells = append(cells, newCell(log.Cells()[n], period))
		}
		cells[op.Cell].add(&op)
	}
	switch {
	case errors.Is(err, io.EOF):
		end := log.End()
		a.Lost = end.Lost
		if end.Truncated > 0 {
			a.Truncated = fmt.Sprintf("%d of the logs that this one was merged from were cut off", end.Truncated)
		}
	case errors.Is(err, oplog.ErrTruncated):
		a.Truncated = err.Error()
	default:
		return nil, err
	}
	for _, c := range cells {
		f, err := c.figures()
		if err != nil {
			return nil, err
		}
		a.Cells = append(a.Cells, f)
	}
	slices.SortStableFunc(a.Cells, func(a, b Figures) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Repeat, b.Repeat),
			cmp.Compare(a.Setting, b.Setting), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Part, b.Part))
	})
	return a, nil
}

// span is from the first to the last of some moments.
type span struct {
	first, last time.Duration
	any         bool
}

func (s *span) add(first, last time.Duration) {
	if !s.any {
		*s = span{first, last, true}
		return
	}
	s.first, s.last = min(s.first, first), max(s.last, last)
}

func (s *span) seconds() float64 { return (s.last - s.first).Seconds() }

// cell is what is known of a cell so far.
type cell struct {
	oplog.Cell
	outcomes map[oplog.Outcome]int64
	workers  map[uint32]bool
	service  *measure.Latency
	took     map[uint32]time.Duration // by worker: what its operations that ended well took together
	wall     span                     // of what counts
	load     load
	queries  queries
}

func newCell(c oplog.Cell, period time.Duration) *cell {
	return &cell{
		Cell: c, outcomes: make(map[oplog.Outcome]int64), workers: make(map[uint32]bool), took: make(map[uint32]time.Duration),
		service: measure.NewLatency(), load: load{period: period}, queries: queries{distinct: make(map[int64]bool)},
	}
}

func (c *cell) add(op *oplog.Op) {
	c.outcomes[op.Outcome]++
	if op.Outcome != oplog.Dropped {
		c.workers[op.Worker] = true
	}
	if c.Kind == oplog.Load {
		c.addBatch(op)
		return
	}
	c.addQuestion(op)
}

func (c *cell) figures() (f Figures, err error) {
	f = Figures{Cell: c.Cell, Outcomes: c.outcomes}
	if f.Workers == 0 {
		f.Workers = len(c.workers)
	}
	service, err := latencyOf(c.service)
	if err != nil {
		return f, err
	}
	if c.Kind == oplog.Load {
		f.Load = c.loadFigures(service)
		f.Load.Workers, f.Load.Accumulated = f.Workers, c.accumulated()
		if c.load.response != nil {
			response, err := latencyOf(c.load.response)
			f.Response = &response
			return f, err
		}
		return f, nil
	}
	f.Queries, err = c.queryFigures(service)
	f.Queries.Workers, f.Queries.Accumulated = f.Workers, c.accumulated()
	return f, err
}

// accumulated lists what the operations of each worker that had any took
// together, in seconds.
func (c *cell) accumulated() []float64 {
	var list []float64
	for _, worker := range slices.Sorted(maps.Keys(c.took)) {
		list = append(list, c.took[worker].Seconds())
	}
	return list
}

func latencyOf(l *measure.Latency) (result.Latency, error) {
	encoded, err := l.Encode()
	return result.Latency{Summary: l.Summary(), Histogram: encoded}, err
}
