package sqlkit

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// InterruptWhenDone interrupts the statement of an embedded database when ctx is done. The returned
// function stops that, and must be called when the statement has ended.
func InterruptWhenDone(ctx context.Context, interrupt func()) (settle func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(gone)
		// Repeatedly: an interrupt before the beginning of the statement has no effect.
		for again := time.NewTicker(time.Millisecond); ; {
			interrupt()
			select {
			case <-ended:
				again.Stop()
				return
			case <-again.C:
			}
		}
	})
	return func() {
		close(ended)
		if !stop() {
			<-gone
		}
	}
}

// Interruptible runs a statement of an embedded database, and interrupts it when ctx is done. The error
// then wraps ctx's.
func Interruptible(ctx context.Context, system string, interrupt func(), run func() (driver.Cost, error)) (cost driver.Cost, err error) {
	if ctx.Err() == nil {
		settle := InterruptWhenDone(ctx, interrupt)
		cost, err = run()
		settle()
		if err == nil || ctx.Err() == nil {
			return cost, err
		}
	}
	return cost, fmt.Errorf("%s's statement was interrupted: %w", system, context.Cause(ctx))
}
