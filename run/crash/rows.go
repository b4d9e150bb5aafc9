package crash

import (
	"errors"
	"io"

	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// rows are rows in memory: those of a round, or some of them.
type rows struct {
	schema  *series.Schema
	batches []*series.Batch // as the dataset has them
	list    []verify.RunRow
	places  map[rowKey]int // indexes in list
}

// rowKey identifies a row. A dataset has one row of a series and a time.
type rowKey struct {
	table  *series.Table
	series uint32
	time   int64
}

func newRows(schema *series.Schema) *rows {
	return &rows{schema: schema, places: make(map[rowKey]int)}
}

// add adds a batch and keeps it.
func (r *rows) add(b *series.Batch) {
	r.batches = append(r.batches, b)
	for i := range b.Runs {
		run := &b.Runs[i]
		for row := range run.Times {
			r.places[rowKey{run.Table, run.Series[row], run.Times[row]}] = len(r.list)
			r.list = append(r.list, verify.RunRow{Run: run, Row: row})
		}
	}
}

// read adds up to n further rows of a dataset, in batches of up to size rows.
func (r *rows) read(from workload.Reader, n int64, size int) error {
	for n > 0 {
		b := new(series.Batch)
		err := from.Next(b, int(min(n, int64(size))))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		n -= int64(b.Rows())
		r.add(b)
	}
	return nil
}

// omit returns the rows except for the ones that chosen, called with the index of a row, selects.
func (r *rows) omit(chosen func(i int) bool) *rows {
	out, i := newRows(r.schema), 0
	for _, b := range r.batches {
		kept := b.CopyRows(func(*series.Run, int) int {
			i++
			if chosen(i - 1) {
				return 0
			}
			return 1
		})
		if kept.Rows() > 0 {
			out.add(kept)
		}
	}
	return out
}

// Schema implements workload.Dataset.
func (r *rows) Schema() *series.Schema { return r.schema }

// Open implements workload.Dataset.
func (r *rows) Open() workload.Reader { return &rowsReader{rest: r.batches} }

type rowsReader struct {
	rest   []*series.Batch
	passed int // rows of the first of rest
	chosen []uint32
}

// Next implements workload.Reader. A batch has rows of one batch of the dataset.
func (r *rowsReader) Next(b *series.Batch, max int) error {
	b.Reset()
	for len(r.rest) > 0 && r.passed == r.rest[0].Rows() {
		r.rest, r.passed = r.rest[1:], 0
	}
	if len(r.rest) == 0 {
		return io.EOF
	}
	at, first, last := 0, r.passed, r.passed+max
	for i := range r.rest[0].Runs {
		run := &r.rest[0].Runs[i]
		r.chosen = r.chosen[:0]
		for row := range run.Times {
			if at >= first && at < last {
				r.chosen = append(r.chosen, uint32(row))
			}
			at++
		}
		if len(r.chosen) > 0 {
			to := b.Add(run.Table)
			to.Grow(len(r.chosen))
			to.Copy(0, run, r.chosen)
			r.passed += len(r.chosen)
		}
	}
	return nil
}
