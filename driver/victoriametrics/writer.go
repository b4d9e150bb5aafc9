package victoriametrics

import (
	"context"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// writer writes the rows of each month in requests of their own. A server has an index
// of each month, and 1.150 looks into that of a series' first sample in a request alone:
// where the series was deleted from another month's, it loses the samples of that one.
// By line protocol no two samples of a series follow each other.
type writer struct {
	driver.Writer
	parts [2]series.Batch // used again
	rows  [2][]uint32
}

// NewWriter implements driver.DB.
func (d *database) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := d.Loader.NewWriter(ctx, worker)
	if err != nil || !d.settings.remote {
		return w, err
	}
	return &writer{Writer: w}, nil
}

// Write implements driver.Writer.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	var first, last int64
	for i := range b.Runs {
		if times := b.Runs[i].Times; len(times) > 0 {
			from, to := slices.Min(times), slices.Max(times)
			if first == 0 {
				first, last = from, to
			}
			first, last = min(first, from), max(last, to)
		}
	}
	next := monthAfter(first)
	if last < next {
		return w.Writer.Write(ctx, b)
	}
	w.split(b, next)
	receipt, err := w.Writer.Write(ctx, &w.parts[0])
	if err != nil {
		return receipt, err
	}
	// What is left may be of several months: it has memory of its own.
	rest := writer{Writer: w.Writer}
	later, err := rest.Write(ctx, &w.parts[1])
	later.Rows += receipt.Rows
	later.WireBytes += receipt.WireBytes
	return later, err
}

// split makes parts of a batch: the rows before a time, and the others.
func (w *writer) split(b *series.Batch, at int64) {
	for p := range w.parts {
		w.parts[p].Reset()
	}
	for i := range b.Runs {
		run := &b.Runs[i]
		w.rows[0], w.rows[1] = w.rows[0][:0], w.rows[1][:0]
		for row, t := range run.Times {
			p := 0
			if t >= at {
				p = 1
			}
			w.rows[p] = append(w.rows[p], uint32(row))
		}
		for p, rows := range w.rows {
			if len(rows) > 0 {
				to := w.parts[p].Add(run.Table)
				to.Grow(len(rows))
				to.Copy(0, run, rows)
			}
		}
	}
}

// monthAfter is when the month behind that of a time begins.
func monthAfter(at int64) int64 {
	t := time.Unix(0, at).UTC()
	return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
}
