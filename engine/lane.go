package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// lane is one worker's way to the target: its writer, and, where batches may
// be sent again, those that the target has not accepted as a whole.
type lane[P any] struct {
	worker int
	target driver.DB
	writer driver.Writer // nil: the last one failed
	send   func(context.Context, driver.Writer, P) (driver.Receipt, error)
	rows   func(P) int
	retry  Retry
	random *rand.Rand
	// retried is told of each try that failed and is followed by another one.
	retried func(begin time.Time, r driver.Receipt, err error)
	// resent is told of rows that are sent again although they may be stored.
	resent func(rows int64)

	held     []P // in their order; only with retry
	accepted int64
	doubtful int64 // rows that may be stored, by tries that failed
}

// newLane returns the way of a worker whose writer is open.
func newLane[P any](l *loader, cfg *LoadConfig, t driver.DB, worker int, w driver.Writer,
	send func(context.Context, driver.Writer, P) (driver.Receipt, error), rows func(P) int) *lane[P] {
	return &lane[P]{
		worker: worker, target: t, writer: w, send: send, rows: rows, retry: cfg.Retry,
		// Workers wait differently, and each as it did in other runs.
		random: rand.New(rand.NewPCG(uint64(worker), 0)),
		resent: func(rows int64) { l.sentTwice.Add(rows) },
	}
}

// write sends a batch, again where that may help. It returns the batches that
// the lane has no more use for. With retry a receipt counts whole batches.
func (l *lane[P]) write(ctx context.Context, p P) (driver.Receipt, []P, error) {
	if l.retry.on() {
		l.held = append(l.held, p)
		return l.persist(ctx, false)
	}
	receipt, err := l.send(ctx, l.writer, p)
	l.held = append(l.held[:0], p)
	return receipt, l.held, err
}

// flush sends what the writer kept back, likewise.
func (l *lane[P]) flush(ctx context.Context) (driver.Receipt, error) {
	if l.retry.on() {
		receipt, _, err := l.persist(ctx, true)
		return receipt, err
	}
	return l.writer.Flush(ctx)
}

// close closes the writer, if there is one.
func (l *lane[P]) close() error {
	if l.writer == nil {
		return nil
	}
	return l.writer.Close()
}

// persist tries until the target took what it was given, or time will not mend
// what it has against it.
func (l *lane[P]) persist(ctx context.Context, flush bool) (driver.Receipt, []P, error) {
	tries := attempts{retry: l.retry, random: l.random}
	for {
		begin := time.Now()
		receipt, err := l.try(ctx, flush)
		if err == nil {
			var done []P
			receipt.Rows, done = l.settle()
			return receipt, done, nil
		}
		receipt.Rows = l.accepted
		if ctx.Err() != nil || driver.AsTemporary(err) == nil {
			return receipt, nil, err
		}
		if ended := tries.next(ctx, err); ended != nil {
			return receipt, nil, ended
		}
		receipt.Rows, l.accepted = 0, 0 // they are sent again
		l.retried(begin, receipt, err)
	}
}

// try sends the newest batch, or flushes. A new writer is given all that are
// held before.
func (l *lane[P]) try(ctx context.Context, flush bool) (total driver.Receipt, err error) {
	next := len(l.held)
	if !flush {
		next--
	}
	if l.writer == nil {
		if l.writer, err = l.target.NewWriter(ctx, l.worker); err != nil {
			l.writer = nil
			return total, fmt.Errorf("connecting again: %w", temporary(err))
		}
		l.resent(l.doubtful)
		next, l.doubtful = 0, 0
	}
	for ; next < len(l.held); next++ {
		receipt, err := l.send(ctx, l.writer, l.held[next])
		l.add(&total, receipt)
		if err != nil {
			l.fail(l.held[:next+1], err)
			return total, err
		}
	}
	if flush {
		receipt, err := l.writer.Flush(ctx)
		l.add(&total, receipt)
		if err != nil {
			l.fail(l.held, err)
			return total, err
		}
	}
	return total, nil
}

func (l *lane[P]) add(total *driver.Receipt, r driver.Receipt) {
	l.accepted += r.Rows
	r.WireBytes += total.WireBytes
	*total = r
}

// fail gives the writer up, and counts the rows that it may have stored.
func (l *lane[P]) fail(given []P, err error) {
	_ = l.writer.Close() // it failed already
	l.writer = nil
	if t := driver.AsTemporary(err); t != nil && t.Refused {
		l.doubtful += l.accepted
		return
	}
	for _, p := range given {
		l.doubtful += int64(l.rows(p))
	}
}

// settle takes the batches off that are accepted as a whole.
func (l *lane[P]) settle() (rows int64, done []P) {
	n := 0
	for ; n < len(l.held); n++ {
		of := int64(l.rows(l.held[n]))
		if l.accepted < of {
			break
		}
		l.accepted -= of
		rows += of
	}
	done = l.held[:n:n]
	if l.held = l.held[n:]; len(l.held) == 0 {
		l.held = done[:0] // its memory serves again
	}
	return rows, done
}
