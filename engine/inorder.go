package engine

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// dealer assigns each series to one worker, so that the rows of a series are written in the order
// of the dataset.
type dealer struct {
	dataset workload.Dataset
	reader  workload.Reader // nil before the first round
	look    int             // rows to read at the start of a round
	size    int             // maximum rows of a batch
	within  int64           // the rows of a round span at most about half of this, in nanoseconds
	step    series.Batch
	parts   []series.Batch // of the round, by worker
	next    int            // worker whose part is next
	ended   bool
}

func newDealer(d workload.Dataset, cfg *LoadConfig) *dealer {
	return &dealer{
		dataset: d, size: cfg.BatchSize, within: int64(cfg.InOrder),
		parts: make([]series.Batch, cfg.Workers), next: cfg.Workers,
	}
}

// owner returns the worker that writes a batch.
func (d *dealer) owner(b *series.Batch) int { return d.worker(b.Runs[0].Series[0]) }

func (d *dealer) worker(s uint32) int { return int(s) % len(d.parts) }

// fill moves the rows of the next worker that has some in this round into a batch.
func (d *dealer) fill(b *batch) error {
	for {
		for ; d.next < len(d.parts); d.next++ {
			if part := &d.parts[d.next]; part.Rows() > 0 {
				b.Batch, *part = *part, b.Batch
				d.next++
				return nil
			}
		}
		if d.ended {
			b.Reset()
			return io.EOF
		}
		if err := d.round(); err != nil {
			return err
		}
	}
}

// firstLook is the number of rows that are read first to estimate how far apart in time the rows of
// a dataset are.
const firstLook = 64

// round deals rows until a worker has nearly a full batch or the rows are too far apart in time.
func (d *dealer) round() error {
	if d.reader == nil {
		d.reader, d.look = d.dataset.Open(), firstLook
	}
	for i := range d.parts {
		d.parts[i].Reset()
	}
	d.next = 0
	first, last := d.parts[0].Times()
	rows, largest := 0, 0
	for look := d.look; look > 0 && largest < d.size-d.size/8; {
		err := d.reader.Next(&d.step, min(look, d.size-largest))
		if errors.Is(err, io.EOF) {
			d.ended = true
			return nil
		}
		if err != nil {
			return err
		}
		from, to := d.step.Times()
		first, last = min(first, from), max(last, to)
		d.step.Deal(d.parts, func(run *series.Run, row int) int { return d.worker(run.Series[row]) })
		for i := range d.parts {
			largest = max(largest, d.parts[i].Rows())
		}
		rows += d.step.Rows()
		look = rows // doubles the rows, unless they are too far apart
		if apart := last - first; apart > 0 {
			look = int(min(float64(rows), float64(rows)*float64(d.within/2-apart)/float64(apart)))
		}
	}
	d.look = max(firstLook, rows/2)
	return nil
}

// order delays a batch while its rows are too much newer than the rows of an unwritten batch. A nil
// order delays nothing.
type order struct {
	within  int64
	mu      sync.Mutex
	writing map[*batch]int64 // the time of the first row
	changed chan struct{}
}

func newOrder(within time.Duration) *order {
	if within == 0 {
		return nil
	}
	return &order{within: int64(within), writing: map[*batch]int64{}, changed: make(chan struct{}, 1)}
}

// begin waits until the batch may be written.
func (o *order) begin(ctx context.Context, b *batch) error {
	if o == nil {
		return nil
	}
	for first, last := b.Times(); !o.take(b, first, last); {
		select {
		case <-o.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (o *order) take(b *batch, first, last int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, oldest := range o.writing {
		if last-oldest > o.within {
			return false
		}
	}
	o.writing[b] = first
	return true
}

// noteWritten records that batches are written.
func (o *order) noteWritten(done []*batch) {
	if o == nil || len(done) == 0 {
		return
	}
	o.mu.Lock()
	for _, b := range done {
		delete(o.writing, b)
	}
	o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
}
