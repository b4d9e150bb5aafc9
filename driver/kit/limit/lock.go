package limit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// Blocked is the error of an operation that waited for a lock held by another session.
type Blocked struct {
	Waited time.Duration
	By     string // who holds it, and how to end that
}

// Error implements error.
func (b *Blocked) Error() string {
	return fmt.Sprintf("waited %v for a lock in vain: %s; allow more with --%s", b.Waited, b.By, StatementFlag)
}

// blockers finds out who holds the lock that a call waits for. Statements that change tables have a
// limit of their own for locks (driver.Env.Locks); statements that read wait until the lock is released.
type blockers struct {
	find  func(context.Context) (holder string, err error) // nil: the server does not report them
	every time.Duration                                    // between looks
}

func newLocks(db driver.DB, limits Limits) blockers {
	return blockers{db.FindBlocker, limits.Statement / 12}
}

// watch returns a context that ends when two consecutive checks have found a holder. The function end
// must be called with the error of the watched call, and replaces it if that was the cause.
func (b blockers) watch(ctx context.Context) (watched context.Context, end func(error) error) {
	if b.find == nil {
		return ctx, func(err error) error { return err }
	}
	watched, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(b.every, func() { b.look(watched, cancel) })
	return watched, func(err error) error {
		timer.Stop()
		blocked, is := errors.AsType[*Blocked](context.Cause(watched))
		cancel(nil)
		if err != nil && is {
			return blocked
		}
		return err
	}
}

func (b blockers) look(ctx context.Context, cancel context.CancelCauseFunc) {
	for found := 1; ; found++ {
		within, done := context.WithTimeout(ctx, b.every)
		by, err := b.find(within)
		done()
		if err != nil || by == "" {
			found = 0
		}
		if found == 2 {
			cancel(&Blocked{2 * b.every, by})
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(b.every):
		}
	}
}
