package limit

import (
	"net"
	"sync"
	"time"
)

// Conn is a network connection that reads no endless answer, and knows what went over
// it. As every net.Conn it may be used by several goroutines: a library that gives a
// connection up drains it by one of its own.
type Conn struct {
	net.Conn
	Unread Unread

	mu      sync.Mutex // guards what follows
	read    int64
	written time.Time
	err     error
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	endless := c.Unread.Read(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read += int64(n)
	if endless != nil {
		c.err = endless
		return 0, endless
	}
	return n, err
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = time.Now()
	return n, err
}

// BytesRead returns how many bytes were read.
func (c *Conn) BytesRead() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read
}

// LastWrite returns when the last bytes had been written.
func (c *Conn) LastWrite() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// Endless returns why the connection was read no further, as IsEndless knows it; nil:
// nothing came that has no end.
func (c *Conn) Endless() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
