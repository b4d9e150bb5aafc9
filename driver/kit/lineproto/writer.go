// Package lineproto sends batches as lines of text, such as line protocol, over HTTP, or over a TCP
// connection without responses.
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

// Sender is a connection that accepts lines.
type Sender interface {
	// Send sends complete lines, one after the other; a line may continue in the next element. The
	// caller may reuse the text on return. Only the times of the receipt are set.
	Send(ctx context.Context, text [][]byte) (driver.Receipt, error)
	// Close ends the connection. Without acknowledgements it first waits until the server has read
	// everything.
	Close() error
	// Abandon closes the connection immediately: data that the server has not read may be lost.
	Abandon()
}

// Loader creates the writers of a database after Prepare. It implements that part of driver.DB; its
// writers are LineWriters.
type Loader struct {
	System string // in errors
	// Open connects.
	Open func(context.Context) (Sender, error)

	prepared atomic.Pointer[prepared] // nil: Prepare has not been called
	sent     atomic.Int64             // rows since Prepare without an acknowledgement
}

type prepared struct {
	encoder encode.Encoder
	tables  []*series.Table
}

// Prepare sets the tables of a schema and their encoder for new writers.
func (l *Loader) Prepare(encoder encode.Encoder, s *series.Schema) {
	l.prepared.Store(&prepared{encoder, s.Tables})
	l.sent.Store(0)
}

// Extend is Prepare during a load: tables have gained tags and fields, and the count of sent rows
// continues.
func (l *Loader) Extend(encoder encode.Encoder, s *series.Schema) {
	l.prepared.Store(&prepared{encoder, s.Tables})
}

// Tables returns the tables passed to Prepare; nil: it has not been called.
func (l *Loader) Tables() []*series.Table {
	if p := l.prepared.Load(); p != nil {
		return p.tables
	}
	return nil
}

// SentRows returns the number of rows sent since Prepare that no response has acknowledged. It is 0 over
// HTTP.
func (l *Loader) SentRows() int64 { return l.sent.Load() }

// NewWriter implements driver.DB. Prepare must have been called since the database
// was opened.
func (l *Loader) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	p, doing := l.prepared.Load(), "opening a connection to "+l.System+" for writing"
	if p == nil {
		return nil, fmt.Errorf("%s: prepare the database first", doing)
	}
	to, err := l.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return &writer{prepared: p, loader: l, to: to}, nil
}

// writer sends each batch immediately. It implements driver.LineWriter.
type writer struct {
	*prepared
	loader    *Loader
	to        Sender // nil: closed
	buffer    []byte // lines of the batch; reused
	unflushed bool   // rows were sent since Flush
}

// Write implements driver.Writer. If the system commits table by table, the rows of some tables may be
// stored after an error.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	for i := range b.Runs {
		if t := b.Runs[i].Table; !slices.Contains(w.tables, t) {
			return driver.Receipt{}, fmt.Errorf("writing to %s: table %s is not of the schema that the database was prepared for", w.loader.System, t.Name)
		}
	}
	w.buffer = w.encoder.Append(w.buffer[:0], b)
	return w.WriteLines(ctx, [][]byte{w.buffer}, b.Rows())
}

// WriteLines implements driver.LineWriter.
func (w *writer) WriteLines(ctx context.Context, text [][]byte, rows int) (driver.Receipt, error) {
	if rows == 0 {
		return driver.Receipt{}, nil
	}
	w.unflushed = true
	receipt, err := w.to.Send(ctx, text)
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to %s: %w", w.loader.System, err)
	}
	receipt.Rows = int64(rows)
	for _, part := range text {
		receipt.WireBytes += int64(len(part))
	}
	if receipt.Acked.IsZero() {
		w.loader.sent.Add(receipt.Rows)
	}
	return receipt, nil
}

// Flush implements driver.Writer. Write does not buffer rows.
func (w *writer) Flush(context.Context) (driver.Receipt, error) {
	w.unflushed = false
	return driver.Receipt{}, nil
}

// Close implements driver.Writer. If Flush was not called, the load was aborted, and Close does not
// wait.
func (w *writer) Close() error {
	to := w.to
	w.to = nil
	if to == nil {
		return nil
	}
	if w.unflushed {
		to.Abandon()
		return nil
	}
	if err := to.Close(); err != nil {
		return fmt.Errorf("closing a connection to %s: %w", w.loader.System, err)
	}
	return nil
}
