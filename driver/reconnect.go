package driver

import (
	"context"
	"errors"
	"fmt"
)

// Reconnect returns a new Querier of a worker whose connection broke, once the
// system has answered: a Querier that sends requests over HTTP can be had
// without a server. The error, which says what did not work, means that the
// system counts as gone.
func Reconnect(ctx context.Context, db DB, worker int) (Querier, error) {
	q, err := db.NewQuerier(ctx, worker)
	if err != nil {
		return nil, fmt.Errorf("connecting querier %d again: %w", worker, err)
	}
	if _, err := db.Describe(ctx); err != nil {
		q.Close() // nothing was read over it
		return nil, fmt.Errorf("looking whether the server still answers: %w", err)
	}
	return q, nil
}

// Broken reports whether no more than a connection broke: what failed with an
// ErrUnreachable failed alone, since Reconnect works. Otherwise it was another
// error, or the system counts as gone.
func Broken(ctx context.Context, db DB, err error) bool {
	if ctx.Err() != nil || !errors.Is(err, ErrUnreachable) {
		return false
	}
	q, gone := Reconnect(ctx, db, 0)
	if gone != nil {
		return false
	}
	q.Close() // nothing was read over it
	return true
}
