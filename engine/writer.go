package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/oplog"
)

// work writes all batches, and then flushes the writer. In a mixed phase acks records
// acknowledgements in the ledger; otherwise it is nil.
func (l *loader) work(ctx context.Context, c *connection, batches <-chan *batch, acks *acks) error {
	c.start, c.recorder = l.start, l.tally.Recorder(l.cfg.Log, c.worker, l.start)
	last, generation := int64(0), int64(0)
	for b := range batches {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.generation != nil && l.generation.Load() > generation {
			generation = l.generation.Load()
			if err := l.renew(ctx, c, last, acks); err != nil {
				return err
			}
		}
		last = b.number
		if err := l.write(ctx, c, b, acks); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.flush(ctx, c, last, acks)
}

// renew flushes and closes the writer of a worker, and connects a new one.
func (l *loader) renew(ctx context.Context, c *connection, last int64, acks *acks) error {
	err := l.flush(ctx, c, last, acks)
	if err != nil {
		return err
	}
	if c.writer, err = c.target.NewWriter(ctx, c.worker); err != nil {
		c.writer = nil
		return fmt.Errorf("connecting writer %d again: %w", c.worker, err)
	}
	return nil
}

func (l *loader) write(ctx context.Context, c *connection, b *batch, acks *acks) error {
	rows, values := b.rows(), b.values()
	begin := time.Now()
	op := oplog.Op{Sequence: b.number - 1, Query: b.number - 1, Start: begin.Sub(l.start), Intended: b.due}
	if b.due == Never {
		op.Intended = op.Start
	}
	acks.sending(b.number, op.Start)
	receipt, done, err := c.write(ctx, b)
	op.Rows, op.Bytes, op.Service = receipt.Rows, receipt.WireBytes, receipt.Service
	if !receipt.Sent.IsZero() {
		op.Sent = max(receipt.Sent.Sub(begin), 0)
	}
	if err != nil {
		op.Outcome, op.Duration = failureOutcome(ctx), time.Since(begin)
		c.recorder.Add(&op)
		return b.failure(c.worker, err)
	}
	op.Outcome, op.Duration, op.Values = oplog.OK, max(ackTime(receipt).Sub(begin), 0), values
	if receipt.Acked.IsZero() {
		op.Outcome = oplog.Unacknowledged
	}
	op.Paused = l.clock.pulse.Paused(begin, op.Duration)
	c.recorder.Add(&op)
	c.written.add(&b.Batch)
	acks.receive(receipt.Rows, op.Start+op.Duration)
	if l.wrote != nil {
		l.wrote(&b.Batch, op.Start+op.Duration)
	}
	l.progress(rows)
	l.order.noteWritten(done)
	l.supplyOf(c.worker).recycle(done)
	return nil
}

// flush sends the rows that the writer kept back, and closes the connection. last is the number of
// the last batch.
func (l *loader) flush(ctx context.Context, c *connection, last int64, acks *acks) error {
	begin := time.Now()
	receipt, err := c.flush(ctx)
	if receipt != (driver.Receipt{}) {
		op := oplog.Op{Outcome: oplog.Flushed, Sequence: last, Query: last, Start: begin.Sub(l.start), Rows: receipt.Rows, Bytes: receipt.WireBytes}
		op.Intended, op.Duration = op.Start, max(receipt.Acked.Sub(begin), 0)
		if !receipt.Sent.IsZero() {
			op.Sent = max(receipt.Sent.Sub(begin), 0)
		}
		c.recorder.Add(&op)
	}
	if err != nil {
		return fmt.Errorf("writer %d, sending the rest: %w", c.worker, err)
	}
	acks.receive(receipt.Rows, ackTime(receipt).Sub(l.start))
	if err := c.close(); err != nil {
		return fmt.Errorf("closing writer %d: %w", c.worker, err)
	}
	return nil
}

// ackTime returns when rows were acknowledged, or else when they were sent, since a protocol
// without acknowledgements has no later time. If a receipt has neither, it returns the current
// time.
func ackTime(r driver.Receipt) time.Time {
	switch {
	case !r.Acked.IsZero():
		return r.Acked
	case !r.Sent.IsZero():
		return r.Sent
	}
	return time.Now()
}
