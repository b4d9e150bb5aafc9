package crash

import (
	"context"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// journal records which batches of a round were handed to the target, and which of them it acknowledged.
type journal struct {
	rows    *rows
	enough  int64 // rows that the target accepts until reached is closed
	reached chan struct{}

	mu       sync.Mutex // guards the fields below
	begun    time.Time  // the first batch; zero: no batch was handed over
	accepted int64      // rows
	events   int        // batches that were handed over or acknowledged
	sent     []*batch
	acked    []*batch // in the order of their acknowledgement
	closed   bool     // later acknowledgements do not count
}

// batch is a batch that was handed to the target.
type batch struct {
	rows         []int // indexes of its rows in the round
	begun, acked int   // numbers among the events of all batches; acked is 0 without an acknowledgement
}

func newJournal(r *rows, enough int64) *journal {
	return &journal{rows: r, enough: enough, reached: make(chan struct{})}
}

// watch returns the database with writers whose batches are recorded.
func (j *journal) watch(db driver.DB) driver.DB {
	db.Required = &watched{db.Required, j}
	return db
}

// begin records that a batch is handed to the target.
func (j *journal) begin(b *series.Batch) *batch {
	sent := &batch{rows: make([]int, 0, b.Rows())}
	for i := range b.Runs {
		run := &b.Runs[i]
		for row := range run.Times {
			if at, ok := j.rows.places[rowKey{run.Table, run.Series[row], run.Times[row]}]; ok {
				sent.rows = append(sent.rows, at)
			}
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.begun.IsZero() {
		j.begun = time.Now()
	}
	j.events++
	sent.begun = j.events
	j.sent = append(j.sent, sent)
	return sent
}

// accept records that the target accepted further rows, and that it acknowledged batches.
func (j *journal) accept(rows int64, acked []*batch) {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := j.accepted
	j.accepted += rows
	if before < j.enough && j.accepted >= j.enough {
		close(j.reached)
	}
	for _, b := range acked {
		if !j.closed {
			j.events++
			b.acked = j.events
			j.acked = append(j.acked, b)
		}
	}
}

// close makes later acknowledgements not count. A process goes on for a moment after the power of its disk
// has failed, and fsync may then succeed without effect: ext4 does not look for the shutdown once it waits for
// the data of a file. A real failure stops the process at once.
func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
}

// batchTime is the mean time between two acknowledgements so far.
func (j *journal) batchTime() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return time.Since(j.begun) / time.Duration(max(len(j.acked), 1))
}

// watched is a database whose writers are recorded.
type watched struct {
	driver.Required
	journal *journal
}

// NewWriter implements driver.Required.
func (w *watched) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	writer, err := w.Required.NewWriter(ctx, worker)
	if err != nil {
		return nil, err
	}
	return &watchedWriter{Writer: writer, journal: w.journal}, nil
}

type watchedWriter struct {
	driver.Writer
	journal *journal
	open    []*batch // sent, and not accepted as a whole
	rows    int64    // accepted rows of these
}

// Write implements driver.Writer.
func (w *watchedWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	w.open = append(w.open, w.journal.begin(b))
	receipt, err := w.Writer.Write(ctx, b)
	w.receive(&receipt)
	return receipt, err
}

// Flush implements driver.Writer.
func (w *watchedWriter) Flush(ctx context.Context) (driver.Receipt, error) {
	receipt, err := w.Writer.Flush(ctx)
	w.receive(&receipt)
	return receipt, err
}

// receive finds the batches that a receipt completes. A protocol without acknowledgements acknowledges
// none.
func (w *watchedWriter) receive(r *driver.Receipt) {
	if r.Rows == 0 {
		return
	}
	var whole []*batch
	for w.rows += r.Rows; len(w.open) > 0 && w.rows >= int64(len(w.open[0].rows)); w.open = w.open[1:] {
		w.rows -= int64(len(w.open[0].rows))
		whole = append(whole, w.open[0])
	}
	if r.Acked.IsZero() {
		whole = nil
	}
	w.journal.accept(r.Rows, whole)
}
