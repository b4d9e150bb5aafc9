package engine

import (
	"context"
	"math"
	"time"

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
