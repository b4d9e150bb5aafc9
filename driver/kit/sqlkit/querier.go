package sqlkit

import (
	"context"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// Querier implements driver.Querier over a connection, which it reopens after it broke.
type Querier[C Remote] struct {
	connect func(context.Context) (C, error)
	conn    C
	closed  bool
}

// NewQuerier returns a connected querier.
func NewQuerier[C Remote](ctx context.Context, connect func(context.Context) (C, error)) (driver.Querier, error) {
	c, err := connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening a connection for reading: %w", err)
	}
	return &Querier[C]{connect: connect, conn: c}, nil
}

// Do implements driver.Querier.
func (q *Querier[C]) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	if q.closed {
		return driver.Cost{}, errors.New("the connection is closed")
	}
	if q.conn.Closed() && ctx.Err() == nil {
		fresh, err := q.connect(ctx)
		if err != nil {
			return driver.Cost{}, err
		}
		q.conn = fresh
	}
	if r.UserText {
		if c, ok := any(q.conn).(Confiner); ok {
			if err := c.Confine(ctx); err != nil {
				return driver.Cost{}, fmt.Errorf("making the connection read-only: %w", err)
			}
		}
	}
	return q.conn.Query(ctx, r.Text, sink)
}

// Confiner is a Remote that can be made read-only.
type Confiner interface {
	// Confine makes it read-only permanently, for users' texts. A second call does nothing.
	Confine(context.Context) error
}

// Close implements driver.Querier.
func (q *Querier[C]) Close() error {
	if q.closed {
		return nil
	}
	q.closed = true
	return q.conn.Close()
}
