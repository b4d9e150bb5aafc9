// Package limit bounds everything outside the measurement that tsmark requests from a target. If the
// server falls silent, the operation ends with an error that names the operation, the time waited, and
// the flag that raises the limit.
package limit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// Limits says how long one call of a target may take.
type Limits struct {
	// Statement limits operations that do not grow with the data: opening, describing, reading and
	// writing the mark, connecting a worker, and measuring the size on disk. It also limits how long a
	// statement that changes tables waits for others' locks.
	Statement time.Duration
	// Step limits operations that grow with the data: preparing, clearing, settling, counting, steps
	// after a load, and queries without a time-out of their own.
	Step time.Duration
	// Waiting is called for each operation that takes longer than Patience; nil: not called.
	Waiting driver.Waiting
}

// Patience is how long an operation may take before it is announced to the user.
const Patience = 2 * time.Second

// Announce announces an operation to the user if it takes longer than Patience. The caller calls the
// function that it returns when the operation has ended. It does nothing if waiting is nil.
func Announce(waiting driver.Waiting, doing string) (end func()) {
	if waiting == nil {
		return func() {}
	}
	ended, announced := make(chan struct{}), make(chan struct{})
	timer := time.AfterFunc(Patience, func() {
		defer close(announced)
		end := waiting(doing)
		<-ended
		end()
	})
	return func() {
		close(ended)
		if !timer.Stop() {
			<-announced
		}
	}
}

// The flags that allow more, without their dashes.
const (
	StatementFlag = "statement-timeout"
	StepFlag      = "step-timeout"
)

// Default is what holds where nobody says anything else.
func Default() Limits { return Limits{Statement: time.Minute, Step: time.Hour} }

// Late is the error of an operation that exceeded its limit. With Limits.Statement it is a
// driver.ErrUnreachable.
type Late struct {
	Limit   time.Duration
	Flag    string // that allows more
	waiting driver.Waiting
}

// Error implements error.
func (l *Late) Error() string {
	return fmt.Sprintf("no answer within %v; look at what the server is doing, or allow more with --%s", l.Limit, l.Flag)
}

// Is reports whether the server counts as gone.
func (l *Late) Is(other error) bool {
	return other == driver.ErrUnreachable && l.Flag == StatementFlag
}

// InStatement calls do with a context that ends at the limit Statement. The error for an exceeded limit
// contains doing.
func (l Limits) InStatement(ctx context.Context, doing string, do func(context.Context) error) error {
	return run(ctx, l.statement(), doing, do)
}

// InStep is InStatement with the limit Step.
func (l Limits) InStep(ctx context.Context, doing string, do func(context.Context) error) error {
	return run(ctx, l.step(), doing, do)
}

func (l Limits) statement() *Late { return &Late{l.Statement, StatementFlag, l.Waiting} }
func (l Limits) step() *Late      { return &Late{l.Step, StepFlag, l.Waiting} }

// Grace is how long something that must not be cut off half-way, such as a
// commit, may go on when it is to end.
const Grace = 5 * time.Second

// Outlive returns a context for such a thing: it ends Grace after ctx does, with
// the same cause. The function releases it.
func Outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(Grace, func() { end(context.Cause(ctx)) })
	})
	return longer, func() {
		stop()
		end(context.Canceled)
	}
}

// abandoned is how long a call may go on after its context has ended before
// nobody waits for it any more: more than Grace and a farewell to the server.
const abandoned = 2 * Grace

// call calls do with a context that ends at the limit, and returns the result of do. It returns soon
// after the end of that context even if do does not. It then passes the result of do to late, unless
// late is nil.
func call[T any](ctx context.Context, limit *Late, doing string, do func(context.Context) (T, error), late func(T)) (T, error) {
	defer Announce(limit.waiting, fmt.Sprintf("%s (%v at most)", doing, limit.Limit))()
	limited, cancel := context.WithTimeoutCause(ctx, limit.Limit, limit)
	defer cancel()
	type outcome struct {
		of  T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		of, err := do(limited)
		done <- outcome{of, err}
	}()
	var ended outcome
	select {
	case ended = <-done:
	case <-limited.Done():
		timer := time.NewTimer(abandoned)
		defer timer.Stop()
		select {
		case ended = <-done:
		case <-timer.C:
			if late != nil {
				go func() {
					if o := <-done; o.err == nil {
						late(o.of)
					}
				}()
			}
			ended.err = fmt.Errorf("%s: it does not return after it was cancelled: %w", doing, context.Cause(limited))
		}
	}
	var named *Late
	if ended.err != nil && ctx.Err() == nil && limited.Err() != nil && !errors.As(ended.err, &named) {
		ended.err = fmt.Errorf("%s: %w", doing, limit)
	}
	return ended.of, ended.err
}

// run is call for what returns nothing.
func run(ctx context.Context, limit *Late, doing string, do func(context.Context) error) error {
	_, err := call(ctx, limit, doing, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) }, nil)
	return err
}
