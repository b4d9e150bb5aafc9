package tally

import (
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
)

// Recorder records one worker's operations in a tally and in the operation log. It is used by one
// goroutine.
type Recorder struct {
	*Tally
	worker uint32
	log    *oplog.Recorder
}

// Recorder returns the recorder of a worker, which has its own tally in addition to t. Times of its
// operations are relative to origin; log may be nil.
func (t *Tally) Recorder(log *oplog.Section, worker int, origin time.Time) *Recorder {
	r := &Recorder{Tally: t.NewWorker(), worker: uint32(worker), log: log.Recorder(worker, origin)}
	if t.Cell.Kind == oplog.Load {
		r.Add(&oplog.Op{Outcome: oplog.Started})
	}
	return r
}

// Add adds an operation, and says whose it is.
func (r *Recorder) Add(op *oplog.Op) {
	op.Worker = r.worker
	r.Tally.Add(op)
	if r.log != nil {
		r.log.Record(*op)
	}
}

// Close passes the remaining operations to the log and adds all operations to a tally. Calls must
// not be concurrent. Closing a nil recorder does nothing.
func (r *Recorder) Close(into *Tally) {
	if r == nil {
		return
	}
	r.log.Close()
	into.Merge(r.Tally)
}
