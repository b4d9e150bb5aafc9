package engine

import (
	"context"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
)

// clock is what looks at the client itself while operations are under way.
type clock struct {
	pulse  *pulse.Pulse
	client bool // processor time is measured
}

// start starts the pulse, if there is to be one, and returns what ends it.
func (c *clock) start(begin func() *pulse.Pulse, client bool) (stop func()) {
	*c = clock{client: client}
	if begin != nil {
		c.pulse = begin()
	}
	return c.pulse.Stop
}

// run runs one query, cuts it off after the timeout, unless that is 0, and puts
// into the operation how it ended, when, since start, and how large its answer was.
// The error is why there is none; of one that was cut off it is one too.
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
	op.Intended, op.Rows, op.Bytes = op.Start, cost.Rows, cost.Bytes
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

// failureOutcome is how an operation ended that returned an error.
func failureOutcome(ctx context.Context) oplog.Outcome {
	if ctx.Err() != nil {
		return oplog.Interrupted
	}
	return oplog.Failed
}
