package ingest

import (
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/lineformat"
)

// Dataset is the rows of a source. It implements workload.Dataset.
type Dataset struct {
	source *Source
	heads  *lineformat.Heads
	schema *series.Schema
	skip   int64
}

// Dataset returns the rows of the source, which must fit the schema of the dataset that generated
// it. Readers skip up to the given number of malformed rows; a further one is a *LineError.
func (s *Source) Dataset(schema *series.Schema, skip int64) *Dataset {
	return &Dataset{source: s, heads: lineformat.NewGeneratedHeads(schema, s.format == TimescaleDB), schema: schema, skip: skip}
}

// Schema implements workload.Dataset.
func (d *Dataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset. The reader is a *Reader.
func (d *Dataset) Open() workload.Reader { return d.Read() }

// Read starts a pass over the rows.
func (d *Dataset) Read() *Reader {
	return &Reader{dataset: d, ended: make(chan struct{})}
}

// Tally counts what a reader has read.
type Tally struct {
	Rows    int64
	Skipped int64 // malformed rows
}

// Reader is a pass over a source's rows, which several goroutines parse. It
// implements workload.Reader.
type Reader struct {
	dataset *Dataset
	lines   *Lines
	tally   Tally
	err     error // that ended it
	rest    *slot // a batch that was too large for the last call
	restAt  int   // its rows that have been returned

	free, ordered chan *slot
	ended         chan struct{}
	once          sync.Once
}

// slot is a chunk on its way to become a batch.
type slot struct {
	chunk Chunk
	batch series.Batch
	bad   []*LineError
	err   error
	done  chan struct{}
}

// Tally returns the counts so far. Use it only in the goroutine that calls Next.
func (r *Reader) Tally() *Tally { return &r.tally }

// Close ends the pass, wherever it is.
func (r *Reader) Close() error {
	r.once.Do(func() { close(r.ended) })
	return nil
}

// start begins to parse batches with the given number of rows.
func (r *Reader) start(rows int) error {
	parsers := make([]*parser, runtime.GOMAXPROCS(0))
	var err error
	for i := range parsers {
		if parsers[i], err = newParser(r.dataset.source, r.dataset.heads); err != nil {
			return err
		}
	}
	if r.lines, err = r.dataset.source.Lines(); err != nil {
		return err
	}
	slots := 2*len(parsers) + 1
	work := make(chan *slot, slots)
	r.free, r.ordered = make(chan *slot, slots), make(chan *slot, slots)
	for range slots {
		r.free <- &slot{done: make(chan struct{}, 1)}
	}
	go func() {
		defer close(work)
		defer close(r.ordered)
		defer r.lines.Close()
		for {
			var s *slot
			select {
			case s = <-r.free:
			case <-r.ended:
				return
			}
			if s.err = r.lines.next(&s.chunk, rows); s.err != nil {
				s.done <- struct{}{}
				r.ordered <- s
				return
			}
			r.ordered <- s
			work <- s
		}
	}()
	for _, p := range parsers {
		go func() {
			for s := range work {
				p.chunk(&s.chunk, &s.batch, r.dataset.skip)
				s.bad = append(s.bad[:0], p.bad...)
				s.done <- struct{}{}
			}
		}()
	}
	return nil
}

// Next implements workload.Reader.
func (r *Reader) Next(b *series.Batch, max int) error {
	b.Reset()
	for r.err == nil {
		if r.rest != nil {
			r.take(b, max)
			r.tally.Rows += int64(b.Rows())
			return nil
		}
		if r.lines == nil {
			if r.err = r.start(max); r.err != nil {
				break
			}
		}
		s, more := <-r.ordered
		if !more {
			r.err = io.EOF
			break
		}
		<-s.done
		if r.err = s.err; r.err != nil {
			break
		}
		for _, bad := range s.bad {
			if r.tally.Skipped++; r.tally.Skipped > r.dataset.skip {
				r.err = bad
				break
			}
		}
		if r.err != nil {
			break
		}
		switch rows := s.batch.Rows(); {
		case rows > max:
			r.rest, r.restAt = s, 0
		case rows > 0:
			// The caller's batch has memory from earlier on: it is filled next.
			*b, s.batch = s.batch, *b
			r.tally.Rows += int64(b.Rows())
			r.free <- s
			return nil
		default:
			r.free <- s
		}
	}
	if !errors.Is(r.err, io.EOF) {
		r.Close()
	}
	return r.err
}

// take copies the next rows of the batch that was too large, at most max.
func (r *Reader) take(b *series.Batch, max int) {
	at := r.restAt
	for i := range r.rest.batch.Runs {
		from := &r.rest.batch.Runs[i]
		if at >= from.Rows() {
			at -= from.Rows()
			continue
		}
		n := min(max, from.Rows()-at)
		if n == 0 {
			break
		}
		to := b.Add(from.Table)
		to.Grow(n)
		copy(to.Series, from.Series[at:])
		copy(to.Times, from.Times[at:])
		for f := range from.Columns {
			source := &from.Columns[f]
			if source.Ints != nil {
				copy(to.Columns[f].Ints, source.Ints[at:])
			} else {
				copy(to.Columns[f].Floats, source.Floats[at:])
			}
			for row := range n {
				if source.Nulls.Has(at + row) {
					to.SetNull(f, row)
				}
			}
		}
		r.restAt += n
		max -= n
		at = 0
	}
	if r.restAt == r.rest.batch.Rows() {
		r.free <- r.rest
		r.rest = nil
	}
}
