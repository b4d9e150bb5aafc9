// Package analysis computes the figures of a run from its operation log.
package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/result"
)

// Analysis is the contents of a log.
type Analysis struct {
	Header oplog.Header
	Cells  []Figures // by target, repeat, setting, kind and part, else in the order of the log
	// Truncated is why the log has no end; empty: it is complete. The figures cover the part that
	// was read.
	Truncated string
	Lost      int64 // operations that the log reports as missing
}

// Figures are the figures of one cell, as computed by the engine. Figures that depend on settings,
// verification or the target itself are missing.
type Figures struct {
	oplog.Cell
	Load     *result.Load    // of a load
	Response *result.Latency `json:",omitempty"` // of a load's batches, from when they were due; nil: no rate was set
	Queries  *result.Queries // of a query type
	Outcomes map[oplog.Outcome]int64
}

// Log reads a log to its end. Period is the reporting period for the rates of loads, as in engine;
// 0: one for the whole load. A truncated log is not an error; a damaged one is. Memory is about 300
// KiB for each histogram of a cell, and 8 bytes for each query of a type, however often it was run.
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

// cell is the state of a cell while its log is read.
type cell struct {
	*tally.Tally
	queries map[int64]bool // identifiers of the queries that were run
}

func newCell(c oplog.Cell, period time.Duration) *cell {
	return &cell{tally.New(c, period), make(map[int64]bool)}
}

func (c *cell) add(op *oplog.Op) {
	c.Add(op)
	if c.Cell.Kind == oplog.Query {
		c.queries[op.Query] = true
	}
}

func (c *cell) figures() (f Figures, err error) {
	f = Figures{Cell: c.Cell, Outcomes: make(map[oplog.Outcome]int64)}
	f.Workers = c.Workers()
	for outcome, n := range c.Outcomes {
		if n > 0 {
			f.Outcomes[oplog.Outcome(outcome)] = n
		}
	}
	if c.Cell.Kind == oplog.Query {
		queries, err := result.QueriesOf(c.Tally)
		queries.Distinct = len(c.queries)
		f.Queries = &queries
		return f, err
	}
	load, err := result.LoadOf(c.Tally)
	f.Load = &load
	if err == nil && c.Response != nil {
		var response result.Latency
		response, err = result.LatencyOf(c.Response)
		f.Response = &response
	}
	return f, err
}
