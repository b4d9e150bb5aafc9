package workload

import (
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// OmitRows returns a reader that omits the rows of another reader for which omit is true. It is called
// once for each row, with the row's number, counted from 0.
func OmitRows(r Reader, omit func(row int64) bool) Reader {
	return &omittingReader{from: r, omit: omit}
}

type omittingReader struct {
	from  Reader
	omit  func(row int64) bool
	row   int64 // number of the next one
	rows  []uint32
	batch series.Batch
}

// Next implements Reader.
func (o *omittingReader) Next(b *series.Batch, max int) error {
	for {
		b.Reset()
		if err := o.from.Next(&o.batch, max); err != nil {
			return err
		}
		for i := range o.batch.Runs {
			run := &o.batch.Runs[i]
			o.rows = o.rows[:0]
			for row := range run.Times {
				if !o.omit(o.row) {
					o.rows = append(o.rows, uint32(row))
				}
				o.row++
			}
			if len(o.rows) > 0 {
				to := b.Add(run.Table)
				to.Grow(len(o.rows))
				to.Copy(0, run, o.rows)
			}
		}
		if b.Rows() > 0 {
			return nil
		}
	}
}

// WithoutRows returns the dataset without some rows, given by their numbers, counted from 0.
func WithoutRows(d Dataset, rows []int64) Dataset {
	rows = slices.Compact(slices.Sorted(slices.Values(rows)))
	return withoutRows{d, rows}
}

type withoutRows struct {
	Dataset
	rows []int64 // in order
}

// Open implements Dataset.
func (w withoutRows) Open() Reader {
	next := w.rows
	return OmitRows(w.Dataset.Open(), func(row int64) bool {
		omit := len(next) > 0 && next[0] == row
		if omit {
			next = next[1:]
		}
		return omit
	})
}

// OnRow implements Momentary.
func (w withoutRows) OnRow(q *query.Query, before time.Time) { OnRow(w.Dataset, q, before) }
