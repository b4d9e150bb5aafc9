package iotdb

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/tsmark/tsmark/driver/kit/limit"
)

// maxFrame limits the size in bytes of a message from the server.
const maxFrame = limit.MaxRow

// wire is Thrift's framed transport over a connection: each message follows its length. Thrift's own
// transport manages the deadlines of the connection, which here belong to the context, and copies each
// message once more.
type wire struct {
	conn *limit.Conn
	in   *bufio.Reader
	left int    // unread bytes of the current message
	out  []byte // the message to send, after room for its length
	open bool
}

var _ thrift.TRichTransport = (*wire)(nil)

func newWire(c *limit.Conn) *wire {
	return &wire{conn: c, in: bufio.NewReaderSize(c, 64<<10), out: make([]byte, 4, 64<<10), open: true}
}

// begin starts a message, and drops the rest of an earlier message that failed.
func (w *wire) begin() { w.out = w.out[:4] }

// Open implements thrift.TTransport.
func (w *wire) Open() error { return nil }

// IsOpen implements thrift.TTransport.
func (w *wire) IsOpen() bool { return w.open }

// Close implements thrift.TTransport.
func (w *wire) Close() error {
	w.open = false
	return w.conn.Close()
}

// RemainingBytes implements thrift.TTransport.
func (w *wire) RemainingBytes() uint64 { return uint64(w.left) }

// Write implements thrift.TTransport.
func (w *wire) Write(p []byte) (int, error) {
	w.out = append(w.out, p...)
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (w *wire) WriteString(s string) (int, error) {
	w.out = append(w.out, s...)
	return len(s), nil
}

// WriteByte implements io.ByteWriter.
func (w *wire) WriteByte(c byte) error {
	w.out = append(w.out, c)
	return nil
}

// Flush implements thrift.TTransport: it sends the message.
func (w *wire) Flush(context.Context) error {
	binary.BigEndian.PutUint32(w.out, uint32(len(w.out)-4))
	_, err := w.conn.Write(w.out)
	w.begin()
	return err
}

// Read implements thrift.TTransport.
func (w *wire) Read(p []byte) (int, error) {
	if err := w.next(); err != nil {
		return 0, err
	}
	n, err := w.in.Read(p[:min(len(p), w.left)])
	w.left -= n
	return n, err
}

// ReadByte implements io.ByteReader.
func (w *wire) ReadByte() (byte, error) {
	if err := w.next(); err != nil {
		return 0, err
	}
	c, err := w.in.ReadByte()
	if err == nil {
		w.left--
	}
	return c, err
}

// next reads the length of the next message after the end of the previous one.
func (w *wire) next() error {
	if w.left > 0 {
		return nil
	}
	head, err := w.in.Peek(4)
	if err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head)
	if n == 0 || n > maxFrame {
		return fmt.Errorf("a message of %d bytes came, and was not read; is this IoTDB?", n)
	}
	_, err = w.in.Discard(4)
	w.left = int(n)
	return err
}

var _ io.ByteReader = (*wire)(nil)
