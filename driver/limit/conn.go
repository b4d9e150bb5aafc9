package limit

import (
	"net"
	"time"
)

// Conn is a network connection that reads no endless answer, and knows what went over
// it. One goroutine reads from it at a time, and one writes to it.
type Conn struct {
	net.Conn
	Unread  Unread
	N       int64     // bytes that were read
	Written time.Time // when the last bytes were
	Err     error     // why it was read no further: see IsEndless
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.N += int64(n)
	if endless := c.Unread.Read(n); endless != nil {
		c.Err = endless
		return 0, endless
	}
	return n, err
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.Written = time.Now()
	return n, err
}
