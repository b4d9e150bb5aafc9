package analysis

import (
	"errors"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
)

// queries is what only questions have.
type queries struct {
	out      result.Queries
	distinct map[int64]bool
	open     result.OpenLoop
	due      span             // intended starts of what counts
	response *measure.Latency // nil: a closed loop
	lag      *measure.Latency

	capturing time.Duration // what captured queries of a closed loop took together
}

// mostEach bounds the memory of Each.
const mostEach = 1 << 26

// addQuestion does what the engine does at an answer.
func (c *cell) addQuestion(op *oplog.Op) {
	q := &c.queries
	q.distinct[op.Question] = true
	counts := op.Outcome == oplog.OK || op.Outcome == oplog.AtLeast || op.Outcome == oplog.Stale
	kept := op.BurnIn && c.Part == oplog.Mixed
	if op.BurnIn && !kept {
		if counts {
			q.out.BurnIn++
		}
		return
	}
	c.addArrival(op, counts && !kept)
	if op.Outcome != oplog.Dropped {
		first := op.Start
		if c.Schedule != "" {
			first = op.Intended
		}
		c.wall.add(first, first)
	}
	if op.Outcome == oplog.Captured {
		c.wall.add(c.wall.first, op.Start+op.Duration)
		q.out.Sample.Captured++
		if c.Schedule == "" {
			q.capturing += op.Duration
		}
	}
	if !counts {
		return
	}
	c.wall.add(c.wall.first, op.Start+op.Duration)
	if !kept {
		c.service.Record(op.Duration)
	}
	q.out.Asked++
	q.out.Rows += op.Rows
	q.out.Bytes += op.Bytes
	q.out.Values += op.Values
	each := op.Duration.Seconds()
	if op.Outcome == oplog.AtLeast {
		q.out.AtLeast++
		each = -each
	} else {
		c.took[op.Worker] += op.Duration
	}
	if c.Part != oplog.Mixed { // where the same question has another window each time
		c.addEach(op.Sequence, each)
	}
}

// addArrival adds what only an open loop has.
func (c *cell) addArrival(op *oplog.Op, counts bool) {
	if c.Schedule == "" {
		return
	}
	q := &c.queries
	if q.response == nil {
		q.response, q.lag = measure.NewLatency(), measure.NewLatency()
	}
	q.due.add(op.Intended, op.Intended)
	q.open.Arrivals++
	q.lag.Record(op.Lag)
	if op.Outcome == oplog.Dropped {
		q.open.Dropped++
	}
	if counts {
		q.response.Record(op.Start + op.Duration - op.Intended)
	}
}

// addEach keeps the time of a question where it was asked for the first time.
func (c *cell) addEach(sequence int64, seconds float64) {
	each := &c.queries.out.Each
	if c.Schedule == "" && c.Questions > 0 && sequence >= 0 {
		sequence %= int64(c.Questions) // asked again, since its answer had been taken
	}
	if sequence < 0 || sequence >= mostEach || c.Questions > 0 && sequence >= int64(c.Questions) {
		return
	}
	if missing := int(sequence) + 1 - len(*each); missing > 0 {
		*each = append(*each, make([]float64, missing)...)
	}
	if (*each)[sequence] == 0 {
		(*each)[sequence] = seconds
	}
}

func (c *cell) queryFigures(service result.Latency) (*result.Queries, error) {
	q := &c.queries
	out := q.out
	out.Type, out.Service, out.Distinct, out.First = c.Type, service, len(q.distinct), c.First
	if out.Asked > 0 {
		out.Wall = c.wall.seconds() - q.capturing.Seconds()/float64(max(len(c.workers), 1))
		done := out.Asked
		if c.Schedule != "" {
			done += out.Sample.Captured
		}
		out.PerSecond = float64(done) / out.Wall
	}
	if q.response == nil {
		return &out, nil
	}
	open := q.open
	open.Schedule = c.Schedule
	if gaps := open.Arrivals - 1; gaps > 0 && q.due.last > q.due.first {
		open.Offered = float64(gaps) / q.due.seconds()
	}
	var responseErr, lagErr error
	open.Response, responseErr = latencyOf(q.response)
	open.Lag, lagErr = latencyOf(q.lag)
	out.Open = &open
	return &out, errors.Join(responseErr, lagErr)
}
