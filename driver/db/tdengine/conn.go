package tdengine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// config is the address of a server and the user to connect as.
type config struct {
	connection.Settings
}

// conn is a connection to taosAdapter over WebSocket, used by one goroutine at a time. It implements
// sqlkit.Remote. TDengine's Go client uses the same protocol, and allocates a value for each field of
// each row.
type conn struct {
	of      *config
	net     *limit.Conn
	ws      *websocket.Conn
	request uint64 // number of the latest request
	broken  bool
	use     string // the statement that selects the database, run before the first query; empty: it is selected

	out   []byte // the request
	in    bytes.Buffer
	block block
}

// connect connects to a database, or to none if its name is empty. Its error wraps
// driver.ErrUnreachable if no server answers, and ctx's error if ctx ended the attempt.
func (c *config) connect(ctx context.Context, database string) (*conn, error) {
	bounded, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	out := &conn{of: c}
	connected := false
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		var to net.Conn
		var err error
		if to, connected, err = connection.Dial(ctx, network, address, c.Encryption()); err != nil {
			return nil, err
		}
		out.net = &limit.Conn{Conn: to}
		return out.net, nil
	}
	dialer := websocket.Dialer{NetDialContext: dial, ReadBufferSize: 64 << 10, WriteBufferSize: 256 << 10}
	ws, answer, err := dialer.DialContext(bounded, "ws://"+c.Address()+"/ws", nil)
	if err != nil {
		if answer != nil {
			err = fmt.Errorf("there is no taosAdapter, whose port is 6041 by default: HTTP %s", answer.Status)
		}
		return nil, c.connecting(ctx, bounded, connected, err)
	}
	out.ws = ws
	err = out.call(bounded, func() error {
		out.begin("conn")
		out.text("user", c.User)
		out.text("password", c.Password)
		if database != "" {
			out.text("db", database)
		}
		_, err := out.roundTrip()
		return err
	})
	if err != nil {
		_ = out.net.Close()
		return nil, c.connecting(ctx, bounded, connected, err)
	}
	return out, nil
}

// begin begins a request.
func (c *conn) begin(action string) {
	c.request++
	c.out = append(append(append(c.out[:0], `{"action":"`...), action...), `","args":{"req_id":`...)
	c.out = strconv.AppendUint(c.out, c.request, 10)
}

// number adds an argument.
func (c *conn) number(name string, value uint64) {
	c.out = append(append(append(c.out, `,"`...), name...), `":`...)
	c.out = strconv.AppendUint(c.out, value, 10)
}

// beginWith begins a request on a result or a statement of the server.
func (c *conn) beginWith(action, name string, id uint64) {
	c.begin(action)
	c.number(name, id)
}

// text adds an argument.
func (c *conn) text(name, value string) { addText(c, name, value) }

func addText[T string | []byte](c *conn, name string, value T) {
	c.out = append(append(append(c.out, `,"`...), name...), `":"`...)
	c.out = append(appendJSON(c.out, value), '"')
}

// appendJSON appends a text in the form that it has between the quotes of JSON.
func appendJSON[T string | []byte](dst []byte, text T) []byte {
	from := 0
	for i := range len(text) {
		b := text[i]
		if b >= ' ' && b != '"' && b != '\\' {
			continue
		}
		dst = append(dst, text[from:i]...)
		from = i + 1
		switch b {
		case '"', '\\':
			dst = append(dst, '\\', b)
		case '\n':
			dst = append(dst, `\n`...)
		default:
			const digits = "0123456789abcdef"
			dst = append(dst, `\u00`...)
			dst = append(dst, digits[b>>4], digits[b&0xf])
		}
	}
	return append(dst, text[from:]...)
}

// send sends the request. It rejects invalid UTF-8, for which the server would close the connection.
func (c *conn) send() error {
	c.out = append(c.out, "}}"...)
	if !utf8.Valid(c.out) {
		return &limit.Refused{Err: errors.New("a text is no UTF-8, which TDengine's WebSocket takes alone")}
	}
	c.net.Unread.Row()
	return c.ws.WriteMessage(websocket.TextMessage, c.out)
}

// said is a response of the server.
type said struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Version string `json:"version"`
	Request uint64 `json:"req_id"`

	ID        uint64   `json:"id"` // of the result
	IsUpdate  bool     `json:"is_update"`
	Affected  int64    `json:"affected_rows"`
	Names     []string `json:"fields_names"`
	Lengths   []int64  `json:"fields_lengths"` // largest length of values, in bytes or characters
	Precision int      `json:"precision"`      // of times: 0 ms, 1 µs, 2 ns

	Completed bool `json:"completed"`
	Rows      int  `json:"rows"`

	Statement uint64 `json:"stmt_id"`
}

// roundTrip sends the request and reads the response, or the server's error.
func (c *conn) roundTrip() (said, error) {
	if err := c.send(); err != nil {
		return said{}, err
	}
	return c.hear()
}

// hear reads a response.
func (c *conn) hear() (s said, err error) {
	kind, err := c.receive(limit.MaxRow)
	if err != nil {
		return s, err
	}
	if kind != websocket.TextMessage {
		return s, errors.New("the server sent an unexpected block")
	}
	if err := json.Unmarshal(c.in.Bytes(), &s); err != nil {
		return s, fmt.Errorf("reading the server's answer: %w", err)
	}
	if s.Code != 0 {
		return s, &failure{code: s.Code, message: s.Message}
	}
	if s.Request != c.request {
		return s, fmt.Errorf("the server answered request %d, and not %d", s.Request, c.request)
	}
	return s, nil
}

// receive reads a message of at most the given number of bytes.
func (c *conn) receive(most int64) (kind int, err error) {
	const part = limit.MaxRow / 2
	c.net.Unread.Row()
	kind, from, err := c.ws.NextReader()
	if err != nil {
		return 0, err
	}
	c.in.Reset()
	for ; most > limit.MaxRow; most -= part {
		n, err := c.in.ReadFrom(io.LimitReader(from, part))
		if err != nil || n < part {
			return kind, err
		}
		c.net.Unread.Row() // the number of rows is known
	}
	_, err = c.in.ReadFrom(io.LimitReader(from, most))
	return kind, err
}

// mostOf is the largest size in bytes of a block of a result: the server builds blocks by the number of
// rows, 4,096 by default, however long these are.
func (s *said) mostOf(rows int) int64 {
	const mostRows, character, beside = 1 << 16, 4, 8
	row := int64(0)
	for _, n := range s.Lengths {
		row += character*min(max(n, 0), 1<<16) + beside
	}
	return max(limit.MaxRow, int64(min(rows, mostRows))*row)
}

// call makes the connection end whatever do waits for when ctx ends. After an error that does not come
// from the server, the state of the connection is undefined, and call closes it.
func (c *conn) call(ctx context.Context, do func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.broken {
		return fmt.Errorf("%w: the connection to %s is closed", driver.ErrUnreachable, c.of.Address())
	}
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Unix(1, 0)) })
	err := do()
	stopped := stop()
	var own *failure
	if !stopped || err != nil && !errors.As(err, &own) {
		c.broken = true
		_ = c.net.Close()
	}
	if !stopped && err != nil {
		return fmt.Errorf("the statement was interrupted: %w", context.Cause(ctx))
	}
	return err
}

// callWithTimeout is call with the time-out of the option, for writes.
func (c *conn) callWithTimeout(ctx context.Context, do func() error) error {
	bounded, cancel := context.WithTimeoutCause(ctx, c.of.Timeout, errSilent)
	defer cancel()
	err := c.call(bounded, do)
	if errors.Is(err, errSilent) && ctx.Err() == nil {
		return &driver.Temporary{Err: fmt.Errorf("%w: %s did not answer within %v; the option %s allows more", driver.ErrUnreachable, c.of.Address(), c.of.Timeout, connection.Timeout)}
	}
	return c.explain(ctx, err)
}

var errSilent = errors.New("no answer in time")

// Ping implements sqlkit.Remote.
func (c *conn) Ping(ctx context.Context) error {
	_, err := c.Query(ctx, "SELECT server_status()", nil)
	return err
}

// Closed implements sqlkit.Remote.
func (c *conn) Closed() bool { return c.broken }

// Close implements sqlkit.Remote.
func (c *conn) Close() error {
	if c.broken {
		return nil
	}
	c.broken = true
	farewell := time.Now().Add(time.Second)
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), farewell) // the server also ends it with the connection
	_ = c.net.Close()
	return nil
}

// Exec implements sqlkit.Conn.
func (c *conn) Exec(ctx context.Context, texts ...string) error {
	return sqlkit.Exec(ctx, c, texts...)
}

// Query implements sqlkit.Conn.
func (c *conn) Query(ctx context.Context, text string, sink query.Sink) (cost driver.Cost, err error) {
	begin := c.net.BytesRead()
	err = c.call(ctx, func() error {
		if c.use != "" {
			if _, err := statement(c, c.use); err != nil {
				return err
			}
			c.use = ""
		}
		answer, err := statement(c, text)
		if err != nil || answer.IsUpdate {
			return err
		}
		cost.Rows, err = c.read(answer, sink)
		return err
	})
	cost.Bytes = c.net.BytesRead() - begin
	return cost, c.explain(ctx, err)
}

// Carry implements carrier.
func (c *conn) Carry(ctx context.Context, text []byte) (time.Time, error) {
	err := c.callWithTimeout(ctx, func() error {
		_, err := statement(c, text)
		return err
	})
	return c.net.LastWrite(), err
}

// statement sends a statement, and reads the server's first response.
func statement[T string | []byte](c *conn, text T) (said, error) {
	c.begin("query")
	addText(c, "sql", text)
	return c.roundTrip()
}

// read decodes the blocks of a result.
func (c *conn) read(answer said, sink query.Sink) (rows int64, err error) {
	if answer.Precision < 0 || answer.Precision >= len(units) {
		return 0, fmt.Errorf("the server's times are of the precision %d", answer.Precision)
	}
	c.block.unit = int64(units[answer.Precision].unit)
	for {
		c.beginWith("fetch", "id", answer.ID)
		next, err := c.roundTrip()
		if err != nil || next.Completed {
			return rows, err
		}
		c.beginWith("fetch_block", "id", answer.ID)
		if err := c.send(); err != nil {
			return rows, err
		}
		kind, err := c.receive(answer.mostOf(next.Rows))
		if err != nil {
			return rows, err
		}
		if kind != websocket.BinaryMessage {
			var s said
			_ = json.Unmarshal(c.in.Bytes(), &s)
			return rows, &failure{code: s.Code, message: s.Message}
		}
		n, err := c.block.read(c.in.Bytes(), len(answer.Names), sink)
		rows += n
		if err == nil && n != int64(next.Rows) {
			err = fmt.Errorf("a block of the answer has %d rows, and %d were said to come", n, next.Rows)
		}
		if err != nil {
			return rows, err
		}
	}
}
