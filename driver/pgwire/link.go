package pgwire

import (
	"context"
	"errors"
	"sync"
)

// Link is a connection for what is asked now and then. It is opened when it is
// first needed, and again when the server was restarted.
type Link struct {
	config *Config
	single bool

	mu     sync.Mutex // guards what follows; held while do runs
	conn   *Conn
	closed bool
}

// NewLink returns a link that is not connected yet. A single one closes its
// connection after each Do, for servers that take one at a time.
func NewLink(c *Config, single bool) *Link { return &Link{config: c, single: single} }

// Do runs do with the connection, one at a time.
func (l *Link) Do(ctx context.Context, do func(*Conn) error) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.single {
		defer func() {
			if l.conn == nil {
				return
			}
			if closed := l.conn.Close(); err == nil {
				err = closed
			}
		}()
	}
	if l.closed {
		return errors.New("the target is closed")
	}
	if l.conn != nil && !l.conn.Closed() && l.conn.Exec(ctx, "-- ping") == nil {
		return do(l.conn)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.conn != nil {
		_ = l.conn.Close() // it is broken
	}
	conn, err := Connect(ctx, l.config)
	if err != nil {
		return err
	}
	l.conn = conn
	return do(conn)
}

// Close ends the connection.
func (l *Link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.conn == nil {
		return nil
	}
	return l.conn.Close()
}
