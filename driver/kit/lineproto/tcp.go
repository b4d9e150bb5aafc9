package lineproto

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// tcpSender sends lines over a connection on which the server does not respond, except that some
// servers say why they refuse a line.
type tcpSender struct {
	timeout time.Duration
	conn    net.Conn
	broken  bool // a send failed
	heard   *heard
}

// heard is the output of a server on a connection.
type heard struct {
	first atomic.Pointer[string] // its first line; nil: none so far
	ended chan struct{}          // closed at the end of the output
	err   error                  // why it ended; nil: the server closed the connection. Set before ended is closed
}

// listen reads until the server closes the connection.
func (h *heard) listen(conn net.Conn) {
	defer close(h.ended)
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadSlice('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			text := httpwire.OneLine(string(line))
			h.first.CompareAndSwap(nil, &text)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if !errors.Is(err, io.EOF) {
				h.err = err
			}
			return
		}
	}
}

// refusal returns an error with the server's first line; nil: it has sent nothing.
func (h *heard) refusal() error {
	if said := h.first.Load(); said != nil {
		return fmt.Errorf("it refused the rows: %s", *said)
	}
	return nil
}

// DialTCP connects to another port of a server, on which it accepts lines and does not respond. Any
// output means that it refuses a line, and becomes the error of the next Send, or of Close.
func DialTCP(ctx context.Context, wire *httpwire.Config, port string) (Sender, error) {
	bounded, cancel := wire.WithTimeout(ctx)
	defer cancel()
	address := net.JoinHostPort(wire.Host, port)
	conn, _, err := connection.Dial(bounded, "tcp", address, wire.TLS)
	if err != nil {
		return nil, wire.TransportError(bounded, address, err)
	}
	t := &tcpSender{timeout: wire.Timeout, conn: conn, heard: &heard{ended: make(chan struct{})}}
	go t.heard.listen(conn)
	return t, nil
}

// Send implements Sender.
func (t *tcpSender) Send(ctx context.Context, text [][]byte) (driver.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return driver.Receipt{}, err
	}
	if err := t.heard.refusal(); err != nil {
		return driver.Receipt{}, err
	}
	if err := t.conn.SetWriteDeadline(time.Now().Add(t.timeout)); err != nil {
		return driver.Receipt{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = t.conn.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	for _, part := range text {
		if _, err := t.conn.Write(part); err != nil {
			t.broken = true
			return driver.Receipt{}, t.failure(ctx, err)
		}
	}
	return driver.Receipt{Sent: time.Now()}, nil
}

// failure is an error of the connection.
func (t *tcpSender) failure(ctx context.Context, err error) error {
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &timeout) && timeout.Timeout():
		err = fmt.Errorf("it did not read all within %v; look at its log, or give a longer timeout", t.timeout)
	default:
		err = fmt.Errorf("it closed the connection, as it does on a line that it cannot read; its log says why: %w", err)
	}
	return &driver.Temporary{Err: fmt.Errorf("%s %w: %w", t.conn.RemoteAddr(), driver.ErrUnreachable, err)}
}

// Abandon implements Sender.
func (t *tcpSender) Abandon() { t.conn.Close() }

// Close implements Sender. It shuts down the sending side, and waits until the server has read
// everything and closes the connection, up to the timeout: several MiB can be in buffers between tsmark
// and a slow server. If the server resets the connection, rows are missing, which is an error.
func (t *tcpSender) Close() error {
	defer t.conn.Close()
	half, ok := t.conn.(interface{ CloseWrite() error })
	if t.broken || !ok {
		return nil
	}
	err := half.CloseWrite()
	if err == nil {
		err = t.conn.SetReadDeadline(time.Now().Add(t.timeout))
	}
	if err != nil {
		return t.failure(context.Background(), err)
	}
	<-t.heard.ended
	if err := t.heard.refusal(); err != nil {
		return err
	}
	if t.heard.err != nil {
		return t.failure(context.Background(), t.heard.err)
	}
	return nil
}
