package oplog

import (
	"sync/atomic"
	"time"
)

// block is a buffer of operations. The worker whose it is writes operations
// behind the published ones and then publishes them, so that the writing
// goroutine may read all published ones at any time.
type block struct {
	ops       [blockOps]Op
	published atomic.Int64
	written   int64 // of the published ones; the writing goroutine's
}

// Recorder records the operations of one worker in one cell, and is used by
// one goroutine. A nil one records nothing.
type Recorder struct {
	w      *Writer
	cell   uint32
	worker uint32
	offset time.Duration // added to times
	block  *block        // guarded by w.mu except for the worker; nil: no free block
}

// Recorder returns a recorder for a worker, which numbers from 0. Times of its
// operations count from origin, a time of time.Now. Close it when the worker
// is done.
func (s *Section) Recorder(worker int, origin time.Time) *Recorder {
	if s == nil {
		return nil
	}
	r := &Recorder{w: s.w, cell: s.id, worker: uint32(worker), offset: origin.Sub(s.w.start)}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.recorders = append(s.w.recorders, r)
	s.w.most = max(s.w.most, len(s.w.recorders))
	r.block = s.w.take()
	return r
}

// Record adds an operation. It takes no lock but once in 4,096 operations,
// never waits for the disk, and allocates nothing once the writer has the
// blocks it needs.
func (r *Recorder) Record(op Op) {
	if r == nil || r.block == nil && !r.resume() {
		return
	}
	op.Cell, op.Worker = r.cell, r.worker
	op.Start += r.offset
	op.Intended += r.offset
	b := r.block
	n := b.published.Load()
	b.ops[n] = op
	b.published.Store(n + 1)
	if n+1 == blockOps {
		r.w.mu.Lock()
		r.w.enqueue(item{block: b})
		r.block = r.w.take()
		r.w.mu.Unlock()
	}
}

// resume looks for a free block after none was free, and counts the operations lost meanwhile.
func (r *Recorder) resume() bool {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	if r.block = r.w.take(); r.block == nil {
		r.w.lost.Add(1)
		return false
	}
	return true
}

// Close passes the remaining operations to the writer. The recorder must not be used afterwards.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	w := r.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.block != nil {
		w.enqueue(item{block: r.block})
		r.block = nil
	}
	for i, other := range w.recorders {
		if other == r {
			last := len(w.recorders) - 1
			w.recorders[i] = w.recorders[last]
			w.recorders = w.recorders[:last]
			break
		}
	}
}
