package questdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
)

// sender is a connection that takes lines.
type sender interface {
	// send sends whole lines. Its receipt has the times.
	send(ctx context.Context, text [][]byte) (target.Receipt, error)
	close() error
}

// writer implements target.LineWriter.
type writer struct {
	d       *database
	encoder encode.Encoder
	tables  []*series.Table
	buffer  []byte // lines of the batch, used again
	to      sender
}

// TakesLines implements target.LineTaker.
func (d *database) TakesLines(format string) bool { return format == "influx" }

// NewWriter implements target.Target. The database must have been prepared
// since it was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (target.Writer, error) {
	d.mu.Lock()
	layout := d.layout
	d.mu.Unlock()
	if layout == nil {
		return nil, errors.New("opening a connection to QuestDB for writing: prepare the database first")
	}
	w := &writer{d: d, encoder: layout.encoder, tables: layout.tables}
	if !d.settings.tcp {
		w.to = &httpSender{client: newClient(d.settings)}
		return w, nil
	}
	var err error
	if w.to, err = dialLines(ctx, d.settings); err != nil {
		return nil, fmt.Errorf("opening a connection to QuestDB for writing: %w", err)
	}
	return w, nil
}

// Write implements target.Writer. Over HTTP a batch is one request, which
// QuestDB commits table by table: an error may leave the rows of some tables.
func (w *writer) Write(ctx context.Context, b *series.Batch) (target.Receipt, error) {
	for i := range b.Runs {
		if !slices.Contains(w.tables, b.Runs[i].Table) {
			return target.Receipt{}, fmt.Errorf("writing to QuestDB: table %s is not of the schema that the database was prepared for", b.Runs[i].Table.Name)
		}
	}
	if err := check(b); err != nil {
		return target.Receipt{}, fmt.Errorf("writing to QuestDB: %w", err)
	}
	w.buffer = w.encoder.Append(w.buffer[:0], b)
	return w.WriteLines(ctx, [][]byte{w.buffer}, b.Rows())
}

// WriteLines implements target.LineWriter.
func (w *writer) WriteLines(ctx context.Context, text [][]byte, rows int) (target.Receipt, error) {
	if rows == 0 {
		return w.Flush(ctx)
	}
	receipt, err := w.to.send(ctx, text)
	if err != nil {
		return target.Receipt{}, fmt.Errorf("writing to QuestDB: %w", err)
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

// Flush implements target.Writer. Write keeps nothing back.
func (w *writer) Flush(context.Context) (target.Receipt, error) { return target.Receipt{}, nil }

// Close implements target.Writer.
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
type httpSender struct{ client *client }

func (s *httpSender) close() error {
	s.client.close()
	return nil
}

func (s *httpSender) send(ctx context.Context, text [][]byte) (target.Receipt, error) {
	settings := s.client.settings
	ctx, cancel := settings.bounded(ctx)
	defer cancel()
	body := newPayload(text)
	request, err := s.client.request(ctx, http.MethodPost, "/write", nil, body)
	if err != nil {
		return target.Receipt{}, err
	}
	request.ContentLength = body.left
	response, err := s.client.http.Do(request)
	<-body.closed // the text is the caller's again
	if err != nil {
		err = settings.unanswered(ctx, request.URL.Host, err)
		if errors.Is(err, target.ErrUnreachable) {
			err = target.Cut(err)
		}
		return target.Receipt{}, err
	}
	defer response.Body.Close()
	if response.StatusCode/100 == 2 {
		_, err := io.Copy(io.Discard, response.Body) // else the connection is not used again
		return target.Receipt{Sent: body.sent, Acked: time.Now()}, err
	}
	said, err := explained(response)
	if said.Line > 0 {
		err = fmt.Errorf("line %d of the batch, %q: %w", said.Line, lineOf(text, said.Line), err)
	}
	return target.Receipt{}, target.HTTPStatus(response, err)
}

// payload is the body of a request: texts one after the other.
type payload struct {
	text   [][]byte
	left   int64
	sent   time.Time     // when its last byte was taken
	closed chan struct{} // once it is no longer read
}

func newPayload(text [][]byte) *payload {
	p := &payload{text: slices.Clone(text), closed: make(chan struct{})}
	for _, part := range text {
		p.left += int64(len(part))
	}
	return p
}

// Read implements io.Reader.
func (p *payload) Read(to []byte) (int, error) {
	for len(p.text) > 0 && len(p.text[0]) == 0 {
		p.text = p.text[1:]
	}
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := copy(to, p.text[0])
	p.text[0] = p.text[0][n:]
	if p.left -= int64(n); p.left == 0 {
		p.sent = time.Now()
	}
	return n, nil
}

// Close implements io.Closer.
func (p *payload) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}
