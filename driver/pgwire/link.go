package pgwire

import (
	"context"
	"errors"
	"sync"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// Link is a connection for what is needed now and then. It implements sqlkit.Conn. It is opened when it is
// first used, and again when the server was restarted.
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

// Query implements sqlkit.Conn.
func (l *Link) Query(ctx context.Context, text string, sink query.Sink) (cost driver.Cost, err error) {
	err = l.Do(ctx, func(c *Conn) error {
		cost, err = c.Query(ctx, text, sink)
		return err
	})
	return cost, err
}

// Exec implements sqlkit.Conn.
func (l *Link) Exec(ctx context.Context, texts ...string) error {
	return l.Do(ctx, func(c *Conn) error { return c.Exec(ctx, texts...) })
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
