package engine

import (
	"context"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
)

// run runs one query, cuts it off after the timeout, unless that is 0, and puts
// into the operation how it ended, when, since start, and how large its answer was.
// The error is why there is none; of one that was cut off it is one too.
func run(ctx context.Context, q driver.Querier, timeout time.Duration, request driver.Request, sink query.Sink, start time.Time, op *oplog.Op) error {
	limited, cancel := within(ctx, timeout)
	defer cancel()
	op.Start = time.Since(start)
	cost, err := q.Do(limited, request, sink)
	op.Duration = time.Since(start) - op.Start
	op.Intended, op.Rows, op.Bytes = op.Start, cost.Rows, cost.Bytes
	switch {
	case err == nil:
		op.Outcome = oplog.OK
	case limited.Err() != nil && ctx.Err() == nil:
		op.Outcome = oplog.AtLeast
	default:
		op.Outcome = failed(ctx)
	}
	return err
}

// within returns the context of one query.
func within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout > 0 {
		return context.WithTimeout(ctx, timeout)
	}
	return ctx, func() {}
}

// failed is how an operation ended that returned an error.
func failed(ctx context.Context) oplog.Outcome {
	if ctx.Err() != nil {
		return oplog.Interrupted
	}
	return oplog.Failed
}
