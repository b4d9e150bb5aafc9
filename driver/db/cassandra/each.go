package cassandra

import (
	"context"
	"sync"
	"sync/atomic"
)

// runParallel calls do with all numbers below n, with at most atOnce calls at a time, and returns when no call
// is running. The first error stops further calls.
func runParallel(ctx context.Context, atOnce, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var failed error
	var once sync.Once
	var group sync.WaitGroup
	for range min(atOnce, n) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := do(ctx, int(i)); err != nil {
					once.Do(func() { failed = err })
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	if failed == nil {
		return context.Cause(ctx)
	}
	return failed
}
