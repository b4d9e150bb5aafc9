package generate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/encode/columnar"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// columnBatches is the number of batches generated ahead while a row group is written.
const columnBatches = 64

// WriteColumns writes all rows of the reader to w, which it closes, and calls
// progress, from one goroutine, with the number of rows of each piece. It stops
// with ctx's error when ctx ends. The writer spreads the columns of a row group
// over the processors.
func WriteColumns(ctx context.Context, w *columnar.Writer, r workload.Reader, progress func(rows int)) error {
	free, ready := make(chan *series.Batch, columnBatches), make(chan *series.Batch, columnBatches)
	for range columnBatches {
		free <- &series.Batch{}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(ready)
		for {
			var b *series.Batch
			select {
			case b = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := r.Next(b, batchRows); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return fmt.Errorf("reading the dataset: %w", err)
			}
			ready <- b
		}
	})
	group.Go(func() error {
		for b := range ready {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.Write(b); err != nil {
				return err
			}
			progress(b.Rows())
			free <- b
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return w.Close()
	})
	return group.Wait()
}
