package influxdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// escaped are the characters that a backslash stands before in names and tags.
const escaped = ", ="

// lines is line protocol as TSBS writes it, but for characters that must be
// escaped, and for rows without any field, which TSBS leaves out.
func lines(unit time.Duration) encode.LineProtocol {
	return encode.LineProtocol{
		Escape:   escaped,
		NullName: nullField,
		Null:     func(series.Type) string { return "t" },
		Unit:     unit,
	}
}

// writer implements driver.LineWriter.
type writer struct {
	client     *httpwire.Client
	parameters url.Values
	header     http.Header
	encoder    encode.Encoder
	checker    *checker
	buffer     []byte // lines of the batch, used again
	compressor *gzip.Writer
	compressed bytes.Buffer // used again
}

// TakesLines implements driver.LineTaker.
func (d *database) TakesLines(format string, _ *series.Schema) bool {
	return format == "influx" && d.settings.unit == time.Nanosecond
}

// NewWriter implements driver.DB. The database must have been prepared
// since it was opened.
func (d *database) NewWriter(context.Context, int) (driver.Writer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.encoder == nil {
		return nil, errors.New("opening a connection to InfluxDB for writing: prepare the database first")
	}
	s := d.settings
	w := &writer{
		client: httpwire.New(&s.wire), encoder: d.encoder, checker: newChecker(d.schema, s.unit),
		parameters: url.Values{"db": {s.database}, "precision": {s.precision}},
		header:     http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
	}
	if s.retention != "" {
		w.parameters.Set("rp", s.retention)
	}
	if s.consistency != "" {
		w.parameters.Set("consistency", s.consistency)
	}
	if s.gzip > 0 {
		w.header.Set("Content-Encoding", "gzip")
		var err error
		if w.compressor, err = gzip.NewWriterLevel(&w.compressed, s.gzip); err != nil {
			return nil, fmt.Errorf("opening a connection to InfluxDB for writing: %w", err)
		}
	}
	return w, nil
}

// Write implements driver.Writer. A batch is one request.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	if err := w.checker.batch(b); err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to InfluxDB: %w", err)
	}
	w.buffer = w.encoder.Append(w.buffer[:0], b)
	return w.WriteLines(ctx, [][]byte{w.buffer}, b.Rows())
}

// WriteLines implements driver.LineWriter.
func (w *writer) WriteLines(ctx context.Context, text [][]byte, rows int) (driver.Receipt, error) {
	if rows == 0 {
		return driver.Receipt{}, nil
	}
	receipt, err := w.send(ctx, text)
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to InfluxDB: %w", err)
	}
	receipt.Rows = int64(rows)
	for _, part := range text {
		receipt.WireBytes += int64(len(part))
	}
	return receipt, nil
}

func (w *writer) send(ctx context.Context, text [][]byte) (driver.Receipt, error) {
	if w.compressor != nil {
		var err error
		if text, err = w.compress(text); err != nil {
			return driver.Receipt{}, err
		}
	}
	ctx, cancel := w.client.Bounded(ctx)
	defer cancel()
	response, sent, err := w.client.Post(ctx, "/write", w.parameters, w.header, text)
	if err != nil {
		return driver.Receipt{}, err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return driver.Receipt{}, refusal(response)
	}
	err = w.client.Acknowledged(ctx, response)
	return driver.Receipt{Sent: sent, Acked: time.Now()}, err
}

// compress returns the texts as one compressed one, which holds until the next
// call.
func (w *writer) compress(text [][]byte) ([][]byte, error) {
	w.compressed.Reset()
	w.compressor.Reset(&w.compressed)
	for _, part := range text {
		if _, err := w.compressor.Write(part); err != nil {
			return nil, err
		}
	}
	if err := w.compressor.Close(); err != nil {
		return nil, err
	}
	return [][]byte{w.compressed.Bytes()}, nil
}

// Flush implements driver.Writer. Write keeps nothing back.
func (w *writer) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }

// Close implements driver.Writer.
func (w *writer) Close() error {
	w.client.Close()
	return nil
}
