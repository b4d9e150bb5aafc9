package engine

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// MixedPart is one client's part of a mixed phase that several clients run together. The zero value
// is the whole phase. Workers, Queriers and Queue of the configuration are the client's own;
// everything else, such as the dataset, the loaded rows, the schedules, the queries and the number
// of answers to keep, is common to all clients.
//
// The expected answers are those of a single client. Each client knows its own watermark: the time
// before which all rows of its share are acknowledged. The phase's watermark is the minimum of
// these: every row of every share before it is acknowledged. Clients receive it with a delay. A
// received watermark was true when it was sent, and watermarks do not fall, so a query below the
// last received watermark covers acknowledged rows only. Rows that any client is writing lie at or
// above the true watermark and hence outside of all windows. The expected answer is therefore
// unique, the dataset's, and any other answer is stale or wrong.
type MixedPart struct {
	Share workload.Share // of queries and arrivals
	// Own reduces a pass over the dataset behind the loaded rows to this client's rows, in order;
	// nil: all rows. Every row belongs to exactly one client.
	Own   func(workload.Reader) workload.Reader
	Peers Peers // the other clients; nil: this client is the only one
}

// Peers connects a client to the others of its phase. Its methods may be called at any
// time, and do not wait.
type Peers interface {
	// Share sends a value of this client to the others. It must not fall.
	Share(name string, value int64)
	// Minimum returns the minimum of the values that all clients, this one included, have shared
	// under that name, as last received; false: some client has not shared a value yet.
	Minimum(name string) (int64, bool)
}

// Names of the values that clients share.
const (
	sharedWatermark = "watermark" // nanoseconds since 1970; math.MaxInt64: all rows are acknowledged
	sharedWritten   = "written"   // 1: nothing more will be written
)

// follow sends this client's watermark to the other clients, receives theirs, and ends the phase
// when every client has finished writing.
func (m *mixed) follow(ctx context.Context, end func()) error {
	peers := m.cfg.Part.Peers
	look := time.NewTicker(patience)
	defer look.Stop()
	for {
		written := m.writing.Load() == 0
		peers.Share(sharedWatermark, m.ledger.freeUpTo())
		if written {
			peers.Share(sharedWritten, 1)
		}
		// Once all rows are acknowledged the phase is about to end; the watermark stays where there
		// are rows.
		if least, ok := peers.Minimum(sharedWatermark); ok && least != math.MaxInt64 && least > m.least.Load() {
			m.least.Store(least)
		}
		if _, ok := peers.Minimum(sharedWritten); ok {
			end()
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
}

// Follower follows a mixed phase and works beside it. The phase then keeps neither answers nor
// acknowledged batches, so that its memory does not grow with its length. All fields are set.
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
	// Generation rises when writers must be replaced, as after Optional.Grow: each worker then flushes
	// and closes its writer before its next batch, and connects a new one.
	Generation *atomic.Int64
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
