package engine

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Written records the fate of a batch.
type Written struct {
	Rows  int64
	Begin time.Duration // when it was handed to the target, since the phase began; Never: not handed over
	Acked time.Duration // when the target acknowledged it; Never: not acknowledged
}

// Never stands for the time of an event that did not happen.
const Never = time.Duration(-1)

// ledger tracks the acknowledged batches and derives the watermark from them.
type ledger struct {
	// watermark is the time, in nanoseconds since 1970, before which every row
	// of the dataset is acknowledged; math.MinInt64 at first.
	watermark atomic.Int64

	mu       sync.Mutex // guards what follows
	lateness int64
	newest   int64 // largest time read so far
	written  []Written
	first    int            // number of the first batch in written
	forgets  bool           // batches are removed from written once they and all before them are acknowledged
	removed  int64          // rows of the removed batches
	pending  []pendingBatch // read and not acknowledged
	ended    bool           // no further batch will be read
}

type pendingBatch struct {
	number int
	first  int64 // its smallest time
}

func newLedger(lateness time.Duration) *ledger {
	l := &ledger{lateness: int64(lateness), newest: math.MinInt64}
	l.watermark.Store(math.MinInt64)
	return l
}

// read records a batch read from the dataset, in the dataset's order, with its smallest and largest
// time.
func (l *ledger) read(rows int64, first, newest int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, pendingBatch{l.first + len(l.written), first})
	l.written = append(l.written, Written{Rows: rows, Begin: Never, Acked: Never})
	l.newest = max(l.newest, newest)
}

// noteLoaded sets the largest time of the rows that the target has already.
func (l *ledger) noteLoaded(newest int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.newest = newest
	l.watermark.Store(newest - l.lateness)
}

func (l *ledger) begin(number int, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written[number-l.first].Begin = at
}

// noteAcked records an acknowledgement. Every row before the lowest unacknowledged time is
// acknowledged. That time is the smallest one of the pending batches or of the unread ones, whose
// rows are at most the dataset's lateness behind the newest row read.
func (l *ledger) noteAcked(number int, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written[number-l.first].Acked = at
	l.pending = slices.DeleteFunc(l.pending, func(p pendingBatch) bool { return p.number == number })
	lowest := l.newest - l.lateness
	for _, p := range l.pending {
		lowest = min(lowest, p.first)
	}
	l.watermark.Store(lowest)
	for l.forgets && len(l.written) > 0 && l.written[0].Acked != Never {
		l.removed += l.written[0].Rows
		l.written, l.first = l.written[1:], l.first+1
	}
}

// rowsRemoved returns the number of rows that were read first and are all acknowledged; only of a ledger that forgets.
func (l *ledger) rowsRemoved() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.removed
}

// end records that all batches were read.
func (l *ledger) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

// freeUpTo returns the watermark, or math.MaxInt64 once all rows are acknowledged and this client
// no longer holds the others back.
func (l *ledger) freeUpTo() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended && len(l.pending) == 0 {
		return math.MaxInt64
	}
	return l.watermark.Load()
}

// acks converts the row counts of one writer's receipts into acknowledged batches: a writer may
// keep rows back and acknowledge them with a later batch. A nil acks does nothing.
type acks struct {
	ledger *ledger
	rows   int64 // acknowledged rows of batches that are not acknowledged as a whole
	sent   []int // batches, in order
}

// sending records that a batch is sent; batch numbers start at 1.
func (a *acks) sending(number int64, at time.Duration) {
	if a != nil {
		a.ledger.begin(int(number-1), at)
		a.sent = append(a.sent, int(number-1))
	}
}

func (a *acks) receive(rows int64, at time.Duration) {
	if a == nil {
		return
	}
	for a.rows += rows; len(a.sent) > 0; a.sent = a.sent[1:] {
		number := a.sent[0]
		a.ledger.mu.Lock()
		of := a.ledger.written[number-a.ledger.first].Rows
		a.ledger.mu.Unlock()
		if a.rows < of {
			return
		}
		a.rows -= of
		a.ledger.noteAcked(number, at)
	}
}
