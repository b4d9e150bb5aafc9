package engine

import (
	"context"
	"errors"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/series"
)

// Follower follows a mixed phase and works beside it. The phase then keeps neither answers nor
// acknowledged batches, so that its memory does not grow with its length. All functions are set.
type Follower struct {
	// Beside runs beside the workers from the start of the clock on. The phase lasts until it has
	// returned and all rows are written; its error ends the phase.
	Beside func(context.Context, Phase) error
	// Below returns the time below which the window of the next query lies, from the watermark: the
	// time before which all rows are acknowledged.
	Below func(watermark int64) int64
	// Wrote receives each batch once a writer has written it, at a time since the start. It must
	// not keep the batch.
	Wrote func(*series.Batch, time.Duration)
	// Ended receives each query once it has ended, with the answer or the error. It reports whether
	// the type goes on regardless of the error.
	Ended func(kind int, op *oplog.Op, a *Answered, err error) (goesOn bool)
}

// Phase is a mixed phase that runs.
type Phase struct {
	Start   time.Time
	Written <-chan struct{} // closed when all rows are written
	// Acked returns a number of rows: the phase has read that many first, and all of them are
	// acknowledged.
	Acked     func() int64
	Watermark func() int64 // time before which all rows are acknowledged, in nanoseconds since 1970
}

func (m *mixed) phase(written <-chan struct{}) Phase {
	return Phase{Start: m.start, Written: written, Acked: m.ledger.rowsRemoved, Watermark: m.ledger.watermark.Load}
}

// replaceBroken connects again after an error that broke the connection. If that fails too, the next
// query fails and tries again.
func (m *mixedWorker) replaceBroken(ctx context.Context, err error) {
	if !errors.Is(err, driver.ErrUnreachable) {
		return
	}
	if fresh, gone := driver.Reconnect(ctx, m.target, m.worker); gone == nil {
		m.querier.Close() // it is broken
		m.querier = fresh
	}
}
