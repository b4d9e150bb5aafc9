package engine

import (
	"context"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/oplog"
)

// record adds the i-th question to the operation log.
func (w *worker) record(i int, due *arrival, start, end time.Duration, cost driver.Cost, o oplog.Outcome) {
	op := oplog.Op{
		Outcome: o, BurnIn: i < w.cfg.BurnIn, Sequence: int64(i), Question: int64(w.at(i).ID),
		Start: start, Intended: start, Duration: end - start, Rows: cost.Rows, Bytes: cost.Bytes,
	}
	op.Values = op.Rows * int64(w.at(i).Values)
	if due != nil {
		op.Intended, op.Lag = due.due, due.lag
	}
	w.log.Record(op)
}

// outcome is how a question ended, as the log has it.
func outcome(ctx context.Context, err error, cutOff, right bool) oplog.Outcome {
	switch {
	case cutOff:
		return oplog.AtLeast
	case err != nil:
		return failed(ctx)
	case !right:
		return oplog.Wrong
	}
	return oplog.OK
}

// failed is how an operation ended that returned an error.
func failed(ctx context.Context) oplog.Outcome {
	if ctx.Err() != nil {
		return oplog.Interrupted
	}
	return oplog.Failed
}

// drop adds an arrival that found the queue full to the operation log.
func (o *openLoop) drop(log *oplog.Recorder, a arrival) {
	log.Record(oplog.Op{
		Outcome: oplog.Dropped, BurnIn: a.n < o.cfg.BurnIn, Sequence: int64(a.n),
		Question: int64(o.source.ID(a.n % o.count)), Start: a.due + a.lag, Intended: a.due, Lag: a.lag,
	})
}

// record adds a batch to the operation log.
func (l *loader) record(log *oplog.Recorder, o oplog.Outcome, begin, end time.Time, r driver.Receipt, values int64) {
	l.recordDue(log, o, begin.Sub(l.start), begin, end, r, values)
}

// recordDue adds a batch that was due at some time.
func (l *loader) recordDue(log *oplog.Recorder, o oplog.Outcome, due time.Duration, begin, end time.Time, r driver.Receipt, values int64) {
	start := begin.Sub(l.start)
	op := oplog.Op{
		Outcome: o, Sequence: l.batches.Add(1) - 1, Start: start, Intended: due, Duration: max(end.Sub(begin), 0),
		Rows: r.Rows, Bytes: r.WireBytes, Values: values,
	}
	if o == oplog.OK && r.Acked.IsZero() {
		op.Outcome = oplog.Unacknowledged
	}
	if !r.Sent.IsZero() {
		op.Sent = max(r.Sent.Sub(begin), 0)
	}
	op.Question = op.Sequence
	log.Record(op)
}
