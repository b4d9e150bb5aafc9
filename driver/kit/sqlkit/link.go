package sqlkit

import (
	"context"
	"errors"
	"sync"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// Remote is a connection over a network, used by one goroutine at a time.
type Remote interface {
	Conn
	// Ping returns an error if the server no longer answers.
	Ping(context.Context) error
	// Closed reports whether the connection was closed or has broken.
	Closed() bool
	// Close ends the connection; a second call does nothing.
	Close() error
}

// Link is a connection for occasional statements. It implements Conn. It connects on first use, and
// again after the server has restarted.
type Link[C Remote] struct {
	connect func(context.Context) (C, error)
	single  bool

	mu     sync.Mutex // guards the following fields; held while Do runs
	conn   C
	opened bool // conn is set
	closed bool
}

// NewLink returns a link that is not connected yet. A single link closes its connection after each Do,
// for servers that accept one at a time.
func NewLink[C Remote](connect func(context.Context) (C, error), single bool) *Link[C] {
	return &Link[C]{connect: connect, single: single}
}

// Do runs do with the connection; calls run one at a time.
func (l *Link[C]) Do(ctx context.Context, do func(C) error) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errors.New("the target is closed")
	}
	if !l.opened || l.conn.Closed() || l.conn.Ping(ctx) != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		fresh, err := l.connect(ctx)
		if err != nil {
			return err
		}
		if l.opened {
			_ = l.conn.Close() // it is broken
		}
		l.conn, l.opened = fresh, true
	}
	if l.single {
		defer func() {
			if closed := l.conn.Close(); err == nil {
				err = closed
			}
		}()
	}
	return do(l.conn)
}

// Query implements Conn.
func (l *Link[C]) Query(ctx context.Context, text string, sink query.Sink) (cost driver.Cost, err error) {
	err = l.Do(ctx, func(c C) error {
		cost, err = c.Query(ctx, text, sink)
		return err
	})
	return cost, err
}

// Exec implements Conn.
func (l *Link[C]) Exec(ctx context.Context, texts ...string) error {
	return l.Do(ctx, func(c C) error { return c.Exec(ctx, texts...) })
}

// Close ends the connection.
func (l *Link[C]) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if !l.opened {
		return nil
	}
	return l.conn.Close()
}
