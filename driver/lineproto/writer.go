// Package lineproto sends batches as lines of text, such as line protocol, over
// HTTP or over a connection of TCP on which nothing is answered.
package lineproto

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// Sender is a connection that takes lines.
type Sender interface {
	// Send sends whole lines, one after the other; a line may go on in the next
	// element. The text is the caller's again on return. The receipt has the
	// times alone.
	Send(ctx context.Context, text [][]byte) (driver.Receipt, error)
	Close() error
}

// Writer sends each batch at once. It implements driver.LineWriter.
type Writer struct {
	System  string // as errors name it
	Encoder encode.Encoder
	Tables  []*series.Table // of the schema that the database was prepared for
	To      Sender
	// Unacknowledged counts the rows that were sent and that no answer has
	// acknowledged. Over HTTP there are none.
	Unacknowledged *atomic.Int64

	buffer []byte // lines of the batch, used again
}

// Write implements driver.Writer. Where the system commits table by table, an
// error may leave the rows of some tables.
func (w *Writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	for i := range b.Runs {
		if t := b.Runs[i].Table; !slices.Contains(w.Tables, t) {
			return driver.Receipt{}, fmt.Errorf("writing to %s: table %s is not of the schema that the database was prepared for", w.System, t.Name)
		}
	}
	w.buffer = w.Encoder.Append(w.buffer[:0], b)
	return w.WriteLines(ctx, [][]byte{w.buffer}, b.Rows())
}

// WriteLines implements driver.LineWriter.
func (w *Writer) WriteLines(ctx context.Context, text [][]byte, rows int) (driver.Receipt, error) {
	if rows == 0 {
		return driver.Receipt{}, nil
	}
	receipt, err := w.To.Send(ctx, text)
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to %s: %w", w.System, err)
	}
	receipt.Rows = int64(rows)
	for _, part := range text {
		receipt.WireBytes += int64(len(part))
	}
	if receipt.Acked.IsZero() {
		w.Unacknowledged.Add(receipt.Rows)
	}
	return receipt, nil
}

// Flush implements driver.Writer. Write keeps nothing back.
func (w *Writer) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }

// Close implements driver.Writer.
func (w *Writer) Close() error {
	if w.To == nil {
		return nil
	}
	err := w.To.Close()
	w.To = nil
	if err != nil {
		return fmt.Errorf("closing a connection to %s: %w", w.System, err)
	}
	return nil
}
