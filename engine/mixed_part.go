package engine

import (
	"context"
	"math"
	"time"

	"github.com/tsmark/tsmark/workload"
)

// MixedPart is what one client does of a mixed phase that several do together. Its zero
// value is the whole. Workers, Queriers and Queue of the configuration are the client's
// own; everything else, such as the dataset, the loaded rows, the schedules, the queries and
// how many answers are wanted, is that of all of them.
//
// What an answer may contain is decided as if there were one client. Each client knows its
// own watermark, the time before which all rows of its share are acknowledged. The phase's
// watermark is the least of these: no row of any share that lies before it is missing.
// Clients hear of it late. What they hear was true when it was sent, and a watermark does not
// fall, so a query below the one last heard asks for acknowledged rows only. Rows that
// are being written, by whomever, lie at or above the true watermark, which is not below the
// one last heard: no window has any of them, so there is nothing in an answer that may or
// may not be there. The right answer is the dataset's; an answer that is another one is
// stale or wrong.
type MixedPart struct {
	Share workload.Share // of queries and arrivals
	// Own leaves the client's rows of a pass over the dataset behind the loaded rows, in
	// their order; nil: all of them. No two clients have the same row, and each row
	// is some client's.
	Own   func(workload.Reader) workload.Reader
	Peers Peers // the other clients; nil: there are none
}

// Peers connects a client to the others of its phase. Its methods may be called at any
// time, and do not wait.
type Peers interface {
	// Share tells the others a value of this client's, which must not fall.
	Share(name string, value int64)
	// Minimum is the least value that all clients, this one included, have shared under that
	// name, as last heard; false: not all have shared one yet.
	Minimum(name string) (int64, bool)
}

// What clients share.
const (
	sharedWatermark = "watermark" // nanoseconds since 1970; math.MaxInt64: all rows are acknowledged
	sharedWritten   = "written"   // 1: nothing more will be written
)

// follow tells the other clients how far this one's rows are acknowledged, hears from
// them, and ends the phase when the last of them has written what it will.
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
		// Once all rows are acknowledged, the phase is about to end: windows stay where
		// there are rows.
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
