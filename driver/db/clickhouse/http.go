package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/ClickHouse/ch-go/proto"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// keepIdle limits the time that an HTTP connection stays idle. Servers close it after ten seconds,
// those before version 23 after three.
const keepIdle = 2 * time.Second

// httpConn is an HTTP connection, over which blocks are sent in the format Native.
type httpConn struct {
	of         *config
	client     *httpwire.Client
	closed     bool
	answer     answer
	block      proto.Buffer
	compressor *compress.Writer
}

func (c *config) wireConfig() httpwire.Config {
	return httpwire.Config{
		Host: c.Host, Port: c.Port, TLS: c.tls, Timeout: c.Timeout, Idle: keepIdle,
		Authorize: func(r *http.Request) {
			r.Header.Set("X-ClickHouse-User", c.User)
			r.Header.Set("X-ClickHouse-Key", c.Password)
		},
	}
}

// newHTTP returns an HTTP connection, which the first request opens.
func (c *config) newHTTP() *httpConn {
	return &httpConn{of: c, client: httpwire.New(&c.wire), compressor: compress.NewWriter(0, compress.LZ4)}
}

// parameters returns the parameters of a request: the database, the settings, and others.
func (c *httpConn) parameters(more ...setting) url.Values {
	values := url.Values{"database": {c.of.Database}}
	for _, s := range append(c.of.settings, more...) {
		values.Set(s.name, s.value)
	}
	return values
}

// Query implements sqlkit.Conn. The bytes of its cost are all bytes received.
func (c *httpConn) Query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	if c.closed {
		return driver.Cost{}, errors.New("the connection is closed")
	}
	parameters := c.parameters(setting{"default_format", "Native"}, setting{"cancel_http_readonly_queries_on_client_close", "1"}, setting{"compress", "1"})
	request, err := c.client.Request(ctx, http.MethodPost, "/", parameters, strings.NewReader(text))
	if err != nil {
		return driver.Cost{}, err
	}
	if readsOnly.MatchString(text) {
		// Makes net/http retry if the server has closed the connection in the meantime, as for a GET.
		// The header is not sent because it has no value.
		request.Header["Idempotency-Key"] = nil
	}
	response, err := c.client.Answer(request, responseError)
	if err != nil {
		return driver.Cost{}, c.explain(ctx, err)
	}
	defer response.Body.Close()
	body := &body{from: response.Body}
	c.answer.begin(sink)
	c.answer.unread = &body.unread
	err = c.read(body)
	cost := driver.Cost{Rows: c.answer.rows, Bytes: body.n}
	return cost, c.readError(ctx, body, err)
}

// readsOnly matches statements that change nothing.
var readsOnly = regexp.MustCompile(`(?i)^\s*(SELECT|WITH)\b`)

// read decodes the blocks of a response to its end.
func (c *httpConn) read(body *body) error {
	r := proto.NewReader(body)
	r.EnableCompression()
	for {
		columns, err := r.UVarInt()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil // end between two blocks
		}
		if err != nil {
			return err
		}
		rows, err := r.UVarInt()
		if err != nil {
			return unexpectedEOF(err)
		}
		if columns > maxBlockCells || rows > maxBlockRows {
			return &limit.Refused{Err: fmt.Errorf("a block of the answer has %d rows of %d columns, and was read no further", rows, columns)}
		}
		if err := c.answer.DecodeResult(r, 0, proto.Block{Columns: int(columns), Rows: int(rows)}); err != nil {
			return unexpectedEOF(err)
		}
	}
}

// unexpectedEOF returns the error for an end that came too early.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	return err
}

// readError explains an error of reading a response. An exception that the server found after it had begun
// to respond is at the end of the body.
func (c *httpConn) readError(ctx context.Context, body *body, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return c.explain(ctx, c.client.RequestError(ctx, err))
	case limit.AsRefused(err) != nil && !strings.Contains(string(body.tail()), exceptionMark):
		return limit.AsRefused(err)
	case limit.IsEndless(err):
		return err
	}
	if _, _ = io.CopyN(io.Discard, body, 1<<20); strings.Contains(string(body.tail()), exceptionMark) {
		text := string(body.tail())
		return responseError(http.StatusInternalServerError, []byte(text[strings.Index(text, exceptionMark):]))
	}
	return fmt.Errorf("%w: truncated response from %s (%s)", driver.ErrUnreachable, c.of.Address(), httpwire.OneLine(err.Error()))
}

// exceptionMark begins the text of an exception.
const exceptionMark = "Code: "

// Exec implements sqlkit.Conn.
func (c *httpConn) Exec(ctx context.Context, texts ...string) error {
	return sqlkit.Exec(ctx, c, texts...)
}

// Insert implements conn.
func (c *httpConn) Insert(ctx context.Context, statement string, columns proto.Input) (bytes int64, sent time.Time, err error) {
	c.block.Reset()
	b := proto.Block{Columns: len(columns), Rows: columns[0].Data.Rows()}
	if err := b.EncodeRawBlock(&c.block, 0, columns); err != nil {
		return 0, time.Time{}, fmt.Errorf("encoding rows: %w", err)
	}
	bytes = int64(len(c.block.Buf))
	if err := c.compressor.Compress(c.block.Buf); err != nil {
		return 0, time.Time{}, fmt.Errorf("compressing rows: %w", err)
	}
	parameters := c.parameters(setting{"query", statement + " FORMAT Native"}, setting{"decompress", "1"})
	response, sent, err := c.client.Post(ctx, "/", parameters, nil, [][]byte{c.compressor.Data})
	if err != nil {
		return 0, sent, c.explain(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		// An exception may follow the status, with a header of its own.
		if response.Header.Get("X-ClickHouse-Exception-Code") == "" {
			return bytes, sent, c.client.Drain(ctx, response)
		}
	}
	return 0, sent, c.explain(ctx, httpwire.WriteError(response, httpwire.ResponseError(response, messageError)))
}

// Ping implements sqlkit.Remote.
func (c *httpConn) Ping(context.Context) error { return nil } // a request opens a missing connection

// Closed implements sqlkit.Remote.
func (c *httpConn) Closed() bool { return c.closed }

// Close implements sqlkit.Remote.
func (c *httpConn) Close() error {
	c.closed = true
	c.client.Close()
	return nil
}

// responseError converts a response with a status other than 200 to an error.
func responseError(status int, text []byte) error {
	err := messageError(status, text)
	if asFailure(err) == nil {
		err = fmt.Errorf("the server answered %d %s: %w", status, http.StatusText(status), err)
	}
	return err
}

// messageError converts a server's message, which is the text of an exception, to an error.
func messageError(_ int, text []byte) error {
	line := httpwire.OneLine(string(text))
	if rest, ok := strings.CutPrefix(line, exceptionMark); ok {
		number, message, _ := strings.Cut(rest, ". ")
		if code, _ := strconv.Atoi(number); code > 0 {
			return &failure{code: code, text: message}
		}
	}
	return errors.New(line)
}

// body is the body of a response. It keeps a copy of the end.
type body struct {
	from   io.Reader
	n      int64
	unread limit.Unread
	last   [4 << 10]byte
	at     int // index after the last byte in last
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.n += int64(n)
	for kept := p[max(0, n-len(b.last)):n]; len(kept) > 0; {
		copied := copy(b.last[b.at:], kept)
		b.at = (b.at + copied) % len(b.last)
		kept = kept[copied:]
	}
	if endless := b.unread.Read(n); endless != nil {
		return 0, endless
	}
	return n, err
}

// tail returns the last bytes that were read.
func (b *body) tail() []byte {
	if b.n < int64(len(b.last)) {
		return b.last[:b.at]
	}
	return append(append([]byte{}, b.last[b.at:]...), b.last[:b.at]...)
}
