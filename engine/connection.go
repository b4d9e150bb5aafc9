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

// connection is one worker's driver.Writer. With retries it also holds the batches that the target
// has not accepted as a whole, since they may be sent again.
type connection struct {
	worker   int
	target   driver.DB
	writer   driver.Writer // nil: the last one failed
	retry    retry.Policy
	random   *rand.Rand
	again    *again          // of all workers
	start    time.Time       // of the phase
	recorder *tally.Recorder // of the phase
	written  *written        // nil: no rows are remembered

	held     []*batch // in order; only with retry
	accepted int64
	doubtful int64 // rows that may be stored, by tries that failed
}

// again is the workers' common record of batches that were sent again; the operations record the
// rest.
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
		// Each worker has its own waits, and the same ones in every run.
		random: rand.New(rand.NewPCG(uint64(worker), 0)),
	}, nil
}

// write sends a batch, with retries if they are enabled. It returns the batches that the connection
// no longer needs. With retries a receipt counts whole batches.
func (c *connection) write(ctx context.Context, b *batch) (driver.Receipt, []*batch, error) {
	if c.retry.Enabled() {
		c.held = append(c.held, b)
		return c.persist(ctx, b)
	}
	receipt, err := b.send(ctx, c.writer)
	c.held = append(c.held[:0], b)
	return receipt, c.held, err
}

// flush sends the rows that the writer kept back, with retries if they are enabled.
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

// persist tries until the target has accepted the newest batch, an error is permanent, or the
// retries are used up. If newest is nil, it flushes.
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

// try sends the newest batch, or flushes. A new writer first receives all held batches.
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
	r.Service += total.Service
	*total = r
}

// fail closes the writer and counts the rows that the target may have stored.
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

// settle removes the batches that the target has accepted as a whole.
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
		c.held = done[:0] // reuses the memory
	}
	return rows, done
}
