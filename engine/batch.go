package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
)

// batch is the unit of writing: rows of a dataset, or unparsed lines of a file. It is filled,
// written and reused.
type batch struct {
	series.Batch
	lines  *ingest.Chunk // set instead of rows; nil: the batch has rows
	number int64         // number in the phase, from 1
	first  int64         // number of its first row, from 1, in the dataset or in the writer's part of it
	of     string        // describes the part of the dataset, if there is one
	place  int64         // in a mixed phase: number of rows read so far from the dataset behind the loaded rows, including other clients' rows
	due    time.Duration // since the start; Never: as soon as a worker is free
}

func (b *batch) rows() int {
	if b.lines != nil {
		return b.lines.Rows
	}
	return b.Rows()
}

// values counts the values that are not NULL. It returns 0 for lines, whose values are not counted.
func (b *batch) values() int64 {
	n := int64(0)
	for i := range b.Runs {
		for f := range b.Runs[i].Columns {
			n += int64(b.Runs[i].Values(f))
		}
	}
	return n
}

func (b *batch) send(ctx context.Context, w driver.Writer) (driver.Receipt, error) {
	if b.lines != nil {
		return w.(driver.LineWriter).WriteLines(ctx, b.lines.Text, b.lines.Rows)
	}
	return w.Write(ctx, &b.Batch)
}

// failure returns an error that names the batch, so that a user can find its rows.
func (b *batch) failure(worker int, err error) error {
	return fmt.Errorf("writer %d, batch %d (rows %d to %d%s, %s): %w", worker, b.number, b.first, b.first+int64(b.rows())-1, b.of, b.content(), err)
}

// content describes the rows of the batch.
func (b *batch) content() string {
	if b.lines != nil {
		return b.lines.String()
	}
	var first, last *series.Run
	for i := range b.Runs {
		if run := &b.Runs[i]; run.Rows() > 0 {
			last = run
			if first == nil {
				first = run
			}
		}
	}
	if first == nil {
		return "none"
	}
	at := func(t int64) string { return time.Unix(0, t).UTC().Format(time.RFC3339Nano) }
	return fmt.Sprintf("%s from %s to %s",
		first.Table.Name, at(first.Times[0]), at(last.Times[last.Rows()-1]))
}

// rowsOf returns a function that fills batches with rows of a dataset. The first call opens the
// dataset.
func rowsOf(d workload.Dataset, size int) func(*batch) error { return rowsFrom(d.Open, size) }

func rowsFrom(open func() workload.Reader, size int) func(*batch) error {
	var reader workload.Reader
	return func(b *batch) error {
		if reader == nil {
			reader = open()
		}
		return reader.Next(&b.Batch, size)
	}
}

// shardsOf returns a function per worker that fills batches with the rows of that worker's shard.
func shardsOf(d workload.Sharded, size int) []func(*batch) error {
	fills := make([]func(*batch) error, d.Shards())
	for i := range fills {
		fills[i] = rowsFrom(func() workload.Reader { return d.OpenShard(i) }, size)
	}
	return fills
}

// linesOf returns a function that fills batches with lines.
func linesOf(lines *ingest.Lines, size int) func(*batch) error {
	return func(b *batch) error {
		if b.lines == nil {
			b.lines = new(ingest.Chunk)
		}
		return lines.Next(b.lines, size)
	}
}

// supply produces the batches of a phase in the order of the dataset, or the batches of the part of
// the dataset that one worker writes.
type supply struct {
	fill    func(*batch) error // io.EOF after the last one
	of      string             // batch.of
	free    chan *batch
	numbers *atomic.Int64 // batches of the phase so far
	rows    int64         // of the dataset or its part so far
}

// newSupply returns a supply for a number of workers. It has enough batches for each worker to
// write one while another is ready.
func newSupply(workers int, fill func(*batch) error, numbers *atomic.Int64) *supply {
	s := &supply{fill: fill, free: make(chan *batch, 2*workers+1), numbers: numbers}
	for range cap(s.free) {
		s.free <- new(batch)
	}
	return s
}

// next returns the next batch, or io.EOF after the last one.
func (s *supply) next(ctx context.Context) (*batch, error) {
	select {
	case b := <-s.free:
		if err := s.fill(b); errors.Is(err, io.EOF) {
			return nil, io.EOF
		} else if err != nil {
			return nil, fmt.Errorf("reading the dataset: %w", err)
		}
		b.number, b.first, b.of, b.due = s.numbers.Add(1), s.rows+1, s.of, Never
		s.rows += int64(b.rows())
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// recycle returns written batches to the pool. If the writer kept its batch back, a new one takes
// its place.
func (s *supply) recycle(done []*batch) {
	if len(done) == 0 {
		done = []*batch{new(batch)}
	}
	for _, b := range done {
		select {
		case s.free <- b:
		default: // there may be one more than there is room for
		}
	}
}

// queues holds the queues that workers take batches from: one per worker, or one shared by all.
type queues []chan *batch

// newQueues makes the queues for a number of workers; each holds up to room batches. With own, each
// worker has its own queue.
func newQueues(workers, room int, own bool) queues {
	q := make(queues, workers)
	for i := range q {
		q[i] = q[0]
		if own || i == 0 {
			q[i] = make(chan *batch, room)
		}
	}
	return q
}

// close closes the queues: no further batches follow.
func (q queues) close() {
	for i := range q {
		if i == 0 || q[i] != q[0] {
			close(q[i])
		}
	}
}
