package questdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// sender is a connection that takes lines.
type sender interface {
	// send sends whole lines. Its receipt has the times.
	send(ctx context.Context, text [][]byte) (driver.Receipt, error)
	close() error
}

// writer implements driver.LineWriter.
type writer struct {
	d       *database
	encoder encode.Encoder
	tables  []*series.Table
	buffer  []byte // lines of the batch, used again
	to      sender
}

// TakesLines implements driver.LineTaker.
func (d *database) TakesLines(format string, s *series.Schema) bool {
	return format == "influx" && (s == nil || !slices.ContainsFunc(s.Tables, differs))
}

// differs reports whether lines of TSBS's format do not say all of a table as
// QuestDB has it: their times are integers, and their booleans no integers.
func differs(t *series.Table) bool {
	return slices.ContainsFunc(t.Fields, func(f series.Field) bool {
		return f.Type == series.Timestamp || f.Type == series.Date || f.Type == series.Bool && nullable(t)
	})
}

// NewWriter implements driver.DB. The database must have been prepared
// since it was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	d.mu.Lock()
	layout := d.layout
	d.mu.Unlock()
	if layout == nil {
		return nil, errors.New("opening a connection to QuestDB for writing: prepare the database first")
	}
	w := &writer{d: d, encoder: layout.encoder, tables: layout.tables}
	if !d.settings.tcp {
		w.to = &httpSender{client: httpwire.New(d.settings.wire())}
		return w, nil
	}
	var err error
	if w.to, err = dialLines(ctx, d.settings); err != nil {
		return nil, fmt.Errorf("opening a connection to QuestDB for writing: %w", err)
	}
	return w, nil
}

// Write implements driver.Writer. Over HTTP a batch is one request, which
// QuestDB commits table by table: an error may leave the rows of some tables.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	for i := range b.Runs {
		if !slices.Contains(w.tables, b.Runs[i].Table) {
			return driver.Receipt{}, fmt.Errorf("writing to QuestDB: table %s is not of the schema that the database was prepared for", b.Runs[i].Table.Name)
		}
	}
	if err := check(b); err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to QuestDB: %w", err)
	}
	w.buffer = w.encoder.Append(w.buffer[:0], b)
	return w.WriteLines(ctx, [][]byte{w.buffer}, b.Rows())
}

// WriteLines implements driver.LineWriter.
func (w *writer) WriteLines(ctx context.Context, text [][]byte, rows int) (driver.Receipt, error) {
	if rows == 0 {
		return w.Flush(ctx)
	}
	receipt, err := w.to.send(ctx, text)
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to QuestDB: %w", err)
	}
	receipt.Rows = int64(rows)
	for _, part := range text {
		receipt.WireBytes += int64(len(part))
	}
	if receipt.Acked.IsZero() {
		w.d.sent.Add(receipt.Rows)
	}
	return receipt, nil
}

// Flush implements driver.Writer. Write keeps nothing back.
func (w *writer) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }

// Close implements driver.Writer.
func (w *writer) Close() error {
	if w.to == nil {
		return nil
	}
	err := w.to.close()
	w.to = nil
	if err != nil {
		return fmt.Errorf("closing a connection to QuestDB: %w", err)
	}
	return nil
}

// httpSender posts lines.
type httpSender struct{ client *httpwire.Client }

func (s *httpSender) close() error {
	s.client.Close()
	return nil
}

func (s *httpSender) send(ctx context.Context, text [][]byte) (driver.Receipt, error) {
	ctx, cancel := s.client.Bounded(ctx)
	defer cancel()
	response, sent, err := s.client.Post(ctx, "/write", nil, nil, text)
	if err != nil {
		return driver.Receipt{}, err
	}
	defer response.Body.Close()
	if response.StatusCode/100 == 2 {
		err := s.client.Acknowledged(ctx, response)
		return driver.Receipt{Sent: sent, Acked: time.Now()}, err
	}
	said, err := explained(response)
	if said.Line > 0 {
		err = fmt.Errorf("line %d of the batch, %q: %w", said.Line, lineOf(text, said.Line), err)
	}
	return driver.Receipt{}, driver.HTTPStatus(response, err)
}
