package limit

import (
	"net"
	"sync"
	"time"
)

// Conn is a network connection that limits the size of responses and counts bytes in both directions.
// As with every net.Conn, several goroutines may use it: a library may drain an abandoned connection in
// a goroutine of its own.
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
