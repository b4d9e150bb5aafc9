package limit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// Blocked is the error of what waited for a lock that somebody else holds.
type Blocked struct {
	Waited time.Duration
	By     string // who holds it, and how to end that
}

// Error implements error.
func (b *Blocked) Error() string {
	return fmt.Sprintf("waited %v for a lock in vain: %s; allow more with --%s", b.Waited, b.By, StatementFlag)
}

// locks looks for whom a call waits. Statements that change tables have a limit of their own
// for locks (driver.Env.Locks); those that read wait for as long as a lock is held.
type locks struct {
	target driver.Waiter // nil: its server does not tell
	every  time.Duration // between looks
}

func newLocks(db driver.DB, limits Limits) locks {
	target, ok := driver.As[driver.Waiter](db)
	if !ok {
		return locks{}
	}
	return locks{target, limits.Statement / 12}
}

// watch returns a context that ends when two looks in a row have found somebody. Of an error
// of a call with it end tells whether that was why; it has to be called.
func (l locks) watch(ctx context.Context) (watched context.Context, end func(error) error) {
	if l.target == nil {
		return ctx, func(err error) error { return err }
	}
	watched, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(l.every, func() { l.look(watched, cancel) })
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

func (l locks) look(ctx context.Context, cancel context.CancelCauseFunc) {
	for found := 1; ; found++ {
		within, done := context.WithTimeout(ctx, l.every)
		by, err := l.target.WaitsFor(within)
		done()
		if err != nil || by == "" {
			found = 0
		}
		if found == 2 {
			cancel(&Blocked{2 * l.every, by})
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.every):
		}
	}
}

// WaitsFor implements driver.Waiter.
func (t *limited) WaitsFor(ctx context.Context) (string, error) {
	if t.locks.target == nil {
		return "", errNot("tells what statements wait for")
	}
	return call(ctx, t.limits.statement(), "looking for locks", t.locks.target.WaitsFor, nil)
}
