package victoriametrics

import (
	"context"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// writer writes the rows of each month in requests of their own. A server has an index for each month,
// and 1.150 looks only into the index of the month of a series' first sample in a request: if the
// series was deleted from another month's index, the samples of that month are lost. In line protocol,
// no two consecutive samples belong to the same series.
type writer struct {
	driver.Writer
	parts [2]series.Batch // used again
}

// NewWriter implements driver.DB.
func (d *database) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := d.Loader.NewWriter(ctx, worker)
	if err != nil || *d.protocol.Load() == protocolLine {
		return w, err
	}
	return &writer{Writer: w}, nil
}

// Write implements driver.Writer.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	first, last := b.Times()
	next := monthAfter(first)
	if b.Rows() == 0 || last < next {
		return w.Writer.Write(ctx, b)
	}
	for p := range w.parts {
		w.parts[p].Reset()
	}
	b.Deal(w.parts[:], func(run *series.Run, row int) int {
		if run.Times[row] < next {
			return 0
		}
		return 1
	})
	receipt, err := w.Writer.Write(ctx, &w.parts[0])
	if err != nil {
		return receipt, err
	}
	// The rest may cover several months, so it has a writer and memory of its own.
	rest := writer{Writer: w.Writer}
	later, err := rest.Write(ctx, &w.parts[1])
	later.Rows += receipt.Rows
	later.WireBytes += receipt.WireBytes
	return later, err
}

// monthAfter returns the start of the month after that of a time.
func monthAfter(at int64) int64 {
	t := time.Unix(0, at).UTC()
	return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
}
