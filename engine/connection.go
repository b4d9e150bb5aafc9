package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
)

// connection is what one worker writes over: its driver.Writer, and, where batches
// may be sent again, those that the target has not accepted as a whole.
type connection struct {
	worker   int
	target   driver.DB
	writer   driver.Writer // nil: the last one failed
	retry    retry.Policy
	random   *rand.Rand
	again    *again          // of all workers
	start    time.Time       // of the phase
	recorder *tally.Recorder // of the phase
	written  *written        // nil: nothing is remembered of it

	held     []*batch // in their order; only with retry
	accepted int64
	doubtful int64 // rows that may be stored, by tries that failed
}

// again is what all workers know of batches that were sent again, beside what
// operations tell.
type again struct {
	mu    sync.Mutex
	cause string // the first failure
	twice int64  // rows that were sent again although they may be stored
}

func (a *again) because(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cause == "" {
		a.cause = err.Error()
	}
}

func (a *again) noteSent(rows int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.twice += rows
}

// connect returns the connection of a worker.
func connect(ctx context.Context, t driver.DB, worker int, policy retry.Policy, again *again) (*connection, error) {
	w, err := t.NewWriter(ctx, worker)
	if err != nil {
		return nil, fmt.Errorf("connecting writer %d: %w", worker, err)
	}
	return &connection{
		worker: worker, target: t, writer: w, retry: policy, again: again,
		// Workers wait differently, and each as it did in other runs.
		random: rand.New(rand.NewPCG(uint64(worker), 0)),
	}, nil
}

// write sends a batch, again where that may help. It returns the batches that
// the connection has no more use for. With retry a receipt counts whole batches.
func (c *connection) write(ctx context.Context, b *batch) (driver.Receipt, []*batch, error) {
	if c.retry.Enabled() {
		c.held = append(c.held, b)
		return c.persist(ctx, b)
	}
	receipt, err := b.send(ctx, c.writer)
	c.held = append(c.held[:0], b)
	return receipt, c.held, err
}

// flush sends what the writer kept back, likewise.
func (c *connection) flush(ctx context.Context) (driver.Receipt, error) {
	if c.retry.Enabled() {
		receipt, _, err := c.persist(ctx, nil)
		return receipt, err
	}
	return c.writer.Flush(ctx)
}

// close closes the writer, if there is one.
func (c *connection) close() error {
	if c == nil || c.writer == nil {
		return nil
	}
	return c.writer.Close()
}

// persist tries until the target took what it was given, or time will not fix
// what it has against it. The newest batch is the one to send; nil: to flush.
func (c *connection) persist(ctx context.Context, newest *batch) (driver.Receipt, []*batch, error) {
	tries := retry.NewAttempts(c.retry, c.random)
	for {
		begin := time.Since(c.start)
		receipt, err := c.try(ctx, newest == nil)
		if err == nil {
			var done []*batch
			receipt.Rows, done = c.settle()
			return receipt, done, nil
		}
		receipt.Rows = c.accepted
		if ctx.Err() != nil || driver.AsTemporary(err) == nil {
			return receipt, nil, err
		}
		end := time.Since(c.start)
		if ended := tries.Next(ctx, err); ended != nil {
			return receipt, nil, ended
		}
		c.accepted = 0 // they are sent again
		failed := oplog.Op{Outcome: oplog.Retried, Start: begin, Intended: begin, Duration: end - begin, Bytes: receipt.WireBytes}
		if newest != nil {
			failed.Values = newest.values()
		}
		c.recorder.Add(&failed)
		c.again.because(err)
	}
}

// try sends the newest batch, or flushes. A new writer is given all that are
// held before.
func (c *connection) try(ctx context.Context, flush bool) (total driver.Receipt, err error) {
	next := len(c.held)
	if !flush {
		next--
	}
	if c.writer == nil {
		if c.writer, err = c.target.NewWriter(ctx, c.worker); err != nil {
			c.writer = nil
			return total, fmt.Errorf("connecting again: %w", retry.Temporary(err))
		}
		c.again.noteSent(c.doubtful)
		next, c.doubtful = 0, 0
	}
	for ; next < len(c.held); next++ {
		receipt, err := c.held[next].send(ctx, c.writer)
		c.add(&total, receipt)
		if err != nil {
			c.fail(c.held[:next+1], err)
			return total, err
		}
	}
	if flush {
		receipt, err := c.writer.Flush(ctx)
		c.add(&total, receipt)
		if err != nil {
			c.fail(c.held, err)
			return total, err
		}
	}
	return total, nil
}

func (c *connection) add(total *driver.Receipt, r driver.Receipt) {
	c.accepted += r.Rows
	r.WireBytes += total.WireBytes
	*total = r
}

// fail closes the writer, and counts the rows that it may have stored.
func (c *connection) fail(batches []*batch, err error) {
	_ = c.writer.Close() // it failed already
	c.writer = nil
	if t := driver.AsTemporary(err); t != nil && t.Refused {
		c.doubtful += c.accepted
		return
	}
	for _, b := range batches {
		c.doubtful += int64(b.rows())
	}
}

// settle takes the batches off that are accepted as a whole.
func (c *connection) settle() (rows int64, done []*batch) {
	n := 0
	for ; n < len(c.held); n++ {
		of := int64(c.held[n].rows())
		if c.accepted < of {
			break
		}
		c.accepted -= of
		rows += of
	}
	done = c.held[:n:n]
	if c.held = c.held[n:]; len(c.held) == 0 {
		c.held = done[:0] // its memory serves again
	}
	return rows, done
}
