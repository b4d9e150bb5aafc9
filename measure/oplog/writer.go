package oplog

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Writer writes a log. Any number of goroutines may use it at once; one of its
// own encodes and writes what their recorders collect.
//
// Memory is bounded: at most blocksPerRecorder blocks of 384 KiB for each
// recorder that was open at once, which is 12 MiB for eight workers, and about
// 2 MiB for encoding. When the disk cannot follow for so long that all blocks
// are full, operations are lost rather than the load held up, and the end of
// the log says how many.
type Writer struct {
	start  time.Time
	frames *frameWriter // of the goroutine that writes
	named  []Cell       // the cells that it has declared

	wake    chan struct{} // has room for one: there is something in the queue
	flush   chan chan struct{}
	stop    chan struct{}
	stopped chan struct{}
	lost    atomic.Int64

	mu        sync.Mutex // guards what follows
	cells     map[Cell]uint32
	queue     []item
	spare     []item // the queue's other half
	recorders []*Recorder
	free      []*block
	observe   func(Cell, []Op)
	blocks    int // in existence
	most      int // recorders that were open at once
	err       error
	closed    bool
}

const (
	blocksPerRecorder = 4
	// flushPeriod limits the newest operations that a killed run may lose.
	flushPeriod = time.Second
)

// item is queued for writing: a cell, or the contents of a block, which is free afterwards.
type item struct {
	cell  *Cell
	block *block
}

// NewWriter begins a log. A header without a start begins now; one with a
// start should have it from time.Now, so that it has a monotonic clock reading.
// The log is written in pieces that are whole, at least every second, each by
// one call of out.Write.
func NewWriter(out io.Writer, h Header) (*Writer, error) {
	if h.Start.IsZero() {
		h.Start = time.Now()
	}
	start := h.Start
	h.Start = h.Start.UTC()
	frames, err := newFrameWriter(out, h)
	if err != nil {
		return nil, err
	}
	w := &Writer{
		start: start, frames: frames, cells: make(map[Cell]uint32),
		wake: make(chan struct{}, 1), flush: make(chan chan struct{}), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go w.run()
	return w, nil
}

// Observe registers a function that receives the operations of each cell soon after they were
// recorded, at least every second, in the order of each worker; times are relative to the start of
// the log. The writing goroutine calls it, and no worker waits for it; if it is slow, operations
// may be lost to the log. It must not keep ops. Call Observe before making the first recorder.
func (w *Writer) Observe(see func(c Cell, ops []Op)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.observe = see
}

// Section is the part of a log that one cell's operations go to. A nil one
// records nothing.
type Section struct {
	w    *Writer
	id   uint32
	cell Cell
}

// Section declares a cell; one that was declared already is the same. A nil
// writer has nil sections.
func (w *Writer) Section(c Cell) *Section {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id, known := w.cells[c]
	if !known {
		id = uint32(len(w.cells))
		w.cells[c] = id
		w.enqueue(item{cell: &c})
	}
	return &Section{w, id, c}
}

// WithSchedule returns the section of the same cell under another schedule, as
// a search for the highest rate tries many, some of them in several attempts, from 1 on.
func (s *Section) WithSchedule(schedule string, attempt int) *Section {
	if s == nil {
		return nil
	}
	c := s.cell
	c.Schedule = schedule
	if attempt > 1 {
		c.Setting = strings.TrimSpace(fmt.Sprintf("%s attempt %d", c.Setting, attempt))
	}
	return s.w.Section(c)
}

// enqueue needs w.mu.
func (w *Writer) enqueue(i item) {
	w.queue = append(w.queue, i)
	select {
	case w.wake <- struct{}{}:
	default: // it is awake, or will be
	}
}

// take returns an empty block, or nil if none is free. The caller holds w.mu.
func (w *Writer) take() *block {
	if w.closed {
		return nil
	}
	if n := len(w.free); n > 0 {
		b := w.free[n-1]
		w.free = w.free[:n-1]
		return b
	}
	if w.blocks >= blocksPerRecorder*w.most {
		return nil
	}
	w.blocks++
	return new(block)
}

// run writes until the writer is closed.
func (w *Writer) run() {
	defer close(w.stopped)
	ticker := time.NewTicker(flushPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-w.wake:
			w.write(false)
		case <-ticker.C:
			w.write(true)
		case done := <-w.flush:
			w.write(true)
			close(done)
		case <-w.stop:
			w.write(true)
			return
		}
	}
}

// write writes the queue and, if wanted, what recorders have not handed over
// yet.
func (w *Writer) write(partial bool) {
	type part struct {
		block     *block
		published int64
	}
	var parts []part
	w.mu.Lock()
	queue := w.queue
	w.queue = w.spare[:0]
	if partial {
		for _, r := range w.recorders {
			if r.block != nil {
				parts = append(parts, part{r.block, r.block.published.Load()})
			}
		}
	}
	observe := w.observe
	w.mu.Unlock()

	for i := range queue {
		if cell := queue[i].cell; cell != nil {
			w.frames.json(cellFrame, cell)
			w.named = append(w.named, *cell)
			continue
		}
		b := queue[i].block
		w.writeBlock(b, b.published.Load(), observe)
		b.published.Store(0)
		b.written = 0
		w.mu.Lock()
		w.free = append(w.free, b)
		w.mu.Unlock()
	}
	for _, p := range parts {
		w.writeBlock(p.block, p.published, observe)
	}
	w.mu.Lock()
	w.spare = queue
	w.err = w.frames.err
	w.mu.Unlock()
}

// writeBlock writes the published operations of a block that are not written yet, and passes them
// to observe unless that is nil.
func (w *Writer) writeBlock(b *block, published int64, observe func(Cell, []Op)) {
	before, ops := w.frames.written, b.ops[b.written:published]
	w.frames.block(ops)
	w.lost.Add(published - b.written - (w.frames.written - before))
	b.written = published
	if observe != nil && len(ops) > 0 {
		observe(w.named[ops[0].Cell], ops)
	}
}

// Flush writes all that was recorded before it was called, and returns the
// first error of the log so far.
func (w *Writer) Flush() error {
	done := make(chan struct{})
	select {
	case w.flush <- done:
		<-done
	case <-w.stopped:
	}
	return w.Err()
}

// Err returns the first error of the log so far. After one, operations are
// lost, and the load goes on.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// LostOps returns how many operations are not in the log.
func (w *Writer) LostOps() int64 { return w.lost.Load() }

// Close writes the remaining operations and the end of the log, and returns the first error. It
// does not close the underlying writer. All recorders must be closed before: operations recorded
// later are lost.
func (w *Writer) Close() error {
	w.mu.Lock()
	closed := w.closed
	w.closed = true
	w.mu.Unlock()
	if closed {
		return errors.New("the operation log is closed already")
	}
	close(w.stop)
	<-w.stopped
	w.frames.json(endFrame, End{Operations: w.frames.written, Lost: w.lost.Load()})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = w.frames.err
	return w.err
}
