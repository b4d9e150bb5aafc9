package driver

import (
	"context"
	"errors"
	"fmt"
)

// Reconnect returns a new Querier for a worker whose connection broke, after the system has answered a
// ping: a Querier over HTTP can be created without a server. After an error, the system counts as
// unreachable; the error says what failed.
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

// IsBroken reports whether an error is only a broken connection: the operation failed with an
// ErrUnreachable, but Reconnect works. Otherwise it was another error, or the system counts as
// unreachable.
func IsBroken(ctx context.Context, db DB, err error) bool {
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
