package workload

import (
	"errors"
	"io"

	"github.com/tsmark/tsmark/series"
)

// inARow is a dataset whose rows are not interleaved: the rows of some intervals, series by series
// and within a series table by table, and then those of the next intervals. Devices that buffer
// their values for a while write in this order (de-interleaved ingestion in Fixstars' evaluation of
// GridDB, which had sequences of ten rows). The rows of each series stay in order; rows of
// different series are late by up to the length of a sequence.
type inARow struct {
	Dataset
	start, width int64 // of the first sequence, nanoseconds
}

func (d inARow) Open() Reader {
	return &inARowReader{inARow: d, inner: d.Dataset.Open(), counts: make([]uint32, d.Schema().Series+1)}
}

// readAhead is the number of rows read into the block at a time.
const readAhead = 4096

// inARowReader gathers the rows of a sequence's time in a block, and gives
// them out in their new order.
type inARowReader struct {
	inARow
	inner Reader

	ahead    series.Batch // the last batch read
	run, row int          // its first row that is not in a block yet
	ended    bool

	block  series.Batch // a run a table
	order  []place      // of the block's rows
	at     int          // first one that was not given out
	counts []uint32     // by series: memory of sort
	rows   []uint32     // memory of Next
}

// place is the place of a row in the block.
type place struct{ run, row uint32 }

func (r *inARowReader) Next(b *series.Batch, max int) error {
	b.Reset()
	var run *series.Run
	for left := max; left > 0; {
		if r.at == len(r.order) {
			if err := r.fill(); errors.Is(err, io.EOF) && left < max {
				return nil
			} else if err != nil {
				return err
			}
		}
		from := r.order[r.at].run
		r.rows = r.rows[:0]
		for ; r.at < len(r.order) && len(r.rows) < left && r.order[r.at].run == from; r.at++ {
			r.rows = append(r.rows, r.order[r.at].row)
		}
		source := &r.block.Runs[from]
		if run == nil || run.Table != source.Table {
			run = b.Add(source.Table)
		}
		had := run.Rows()
		run.Grow(had + len(r.rows))
		run.Copy(had, source, r.rows)
		left -= len(r.rows)
	}
	return nil
}

// fill reads the next block.
func (r *inARowReader) fill() error {
	r.block.Reset()
	for _, t := range r.Schema().Tables {
		r.block.Add(t)
	}
	end, begun := int64(0), false
	for {
		if r.run == len(r.ahead.Runs) {
			if err := r.readMore(); errors.Is(err, io.EOF) && begun {
				break
			} else if err != nil {
				return err
			}
			continue
		}
		from := &r.ahead.Runs[r.run]
		last := r.row
		for ; last < from.Rows(); last++ {
			if t := from.Times[last]; !begun {
				begun, end = true, t-floorMod(t-r.start, r.width)+r.width
			} else if t >= end {
				break
			}
		}
		r.take(from, last)
		if last < from.Rows() {
			break
		}
		r.run, r.row = r.run+1, 0
	}
	r.sort()
	return nil
}

// readMore reads the next batch of the dataset.
func (r *inARowReader) readMore() error {
	if r.ended {
		return io.EOF
	}
	r.run, r.row = 0, 0
	err := r.inner.Next(&r.ahead, readAhead)
	r.ended = err != nil
	return err
}

// take adds the rows of a run up to the last one to the block.
func (r *inARowReader) take(from *series.Run, last int) {
	r.rows = r.rows[:0]
	for ; r.row < last; r.row++ {
		r.rows = append(r.rows, uint32(r.row))
	}
	for i := range r.block.Runs {
		if to := &r.block.Runs[i]; to.Table == from.Table {
			had := to.Rows()
			to.Grow(had + len(r.rows))
			to.Copy(had, from, r.rows)
		}
	}
}

// sort sorts the block's rows by series and keeps the order within a series.
func (r *inARowReader) sort() {
	clear(r.counts)
	n := 0
	for i := range r.block.Runs {
		for _, s := range r.block.Runs[i].Series {
			r.counts[s+1]++
		}
		n += r.block.Runs[i].Rows()
	}
	for s := 1; s < len(r.counts); s++ {
		r.counts[s] += r.counts[s-1] // where the rows of series s begin
	}
	r.order, r.at = append(r.order[:0], make([]place, n)...), 0
	for i := range r.block.Runs {
		for row, s := range r.block.Runs[i].Series {
			r.order[r.counts[s]] = place{uint32(i), uint32(row)}
			r.counts[s]++
		}
	}
}

// floorMod is t modulo n, from 0 to below n, before 1970 too.
func floorMod(t, n int64) int64 {
	if t %= n; t < 0 {
		t += n
	}
	return t
}
