// Package generate writes a dataset in a file format, with drawing, encoding
// and writing overlapped.
package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// batchRows keeps a batch and its text (about 350 KiB for cpu-only) within
// the second-level cache.
const batchRows = 1024

// slot is one batch on its way from the reader to the output.
type slot struct {
	batch   series.Batch
	text    []byte
	encoded chan struct{}
}

// Write writes all rows of the reader to w in the encoder's format and calls
// progress, from one goroutine, with the number of rows of each piece written.
// It stops with ctx's error when ctx ends. The draws of a TSBS dataset are one
// sequential stream, so only encoding spreads over the processors.
func Write(ctx context.Context, w io.Writer, r workload.Reader, e encode.Encoder, progress func(rows int)) error {
	if header := e.AppendHeader(nil); len(header) > 0 {
		if _, err := w.Write(header); err != nil {
			return fmt.Errorf("writing the header: %w", err)
		}
	}
	encoders := runtime.GOMAXPROCS(0)
	slots := 4 * encoders
	free, ready, ordered := make(chan *slot, slots), make(chan *slot, slots), make(chan *slot, slots)
	for range slots {
		free <- &slot{encoded: make(chan struct{}, 1)}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(ready)
		defer close(ordered)
		for {
			var s *slot
			select {
			case s = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := r.Next(&s.batch, batchRows); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return fmt.Errorf("reading the dataset: %w", err)
			}
			ready <- s
			ordered <- s
		}
	})
	for range encoders {
		group.Go(func() error {
			for s := range ready {
				s.text = e.Append(s.text[:0], &s.batch)
				s.encoded <- struct{}{}
			}
			return nil
		})
	}
	group.Go(func() error {
		for s := range ordered {
			<-s.encoded
			if _, err := w.Write(s.text); err != nil {
				return err
			}
			progress(s.batch.Rows())
			free <- s
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if footed, ok := e.(encode.Footed); ok {
		if _, err := w.Write(footed.AppendFooter(nil)); err != nil {
			return fmt.Errorf("writing the end: %w", err)
		}
	}
	return nil
}
