package engine

import (
	"context"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
)

// clock observes the client itself while operations are in flight.
type clock struct {
	pulse  *pulse.Pulse
	client bool // processor time is measured
}

// start starts the pulse if begin is not nil, and returns the function that stops it.
func (c *clock) start(begin func() *pulse.Pulse, client bool) (stop func()) {
	*c = clock{client: client}
	if begin != nil {
		c.pulse = begin()
	}
	return c.pulse.Stop
}

// run runs one query and cuts it off after the timeout, unless that is 0. It stores in op the
// outcome, the start relative to start, the duration, and the size of the answer. It returns the
// query's error, including when the query was cut off.
func (c *clock) run(ctx context.Context, q driver.Querier, timeout time.Duration, request driver.Request, sink query.Sink, start time.Time, op *oplog.Op) error {
	limited, cancel := withTimeout(ctx, timeout)
	defer cancel()
	var begun time.Duration
	if c.client {
		begun = c.pulse.Begin()
	}
	op.Start = time.Since(start)
	cost, err := q.Do(limited, request, sink)
	op.Duration = time.Since(start) - op.Start
	if c.client {
		op.Client = min(c.pulse.End(begun), op.Duration)
	}
	op.Paused = c.pulse.Paused(start.Add(op.Start), op.Duration)
	op.Intended, op.Rows, op.Bytes, op.Service = op.Start, cost.Rows, cost.Bytes, cost.Service
	switch {
	case err == nil:
		op.Outcome = oplog.OK
	case limited.Err() != nil && ctx.Err() == nil:
		op.Outcome = oplog.AtLeast
	default:
		op.Outcome = failureOutcome(ctx)
	}
	return err
}

// withTimeout returns the context of one query.
func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout > 0 {
		return context.WithTimeout(ctx, timeout)
	}
	return ctx, func() {}
}

// failureOutcome returns the outcome of an operation that returned an error.
func failureOutcome(ctx context.Context) oplog.Outcome {
	if ctx.Err() != nil {
		return oplog.Interrupted
	}
	return oplog.Failed
}
