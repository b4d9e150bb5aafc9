package record

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tsmark/tsmark/driver/kit/limit"
)

// The final state of an interrupted run is stored, and nobody waits for results that do not answer,
// whenever they stop answering.
func TestOutlast(t *testing.T) {
	for name, interrupt := range map[string]time.Duration{"before": 0, "meanwhile": time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			time.AfterFunc(interrupt, end)
			synctest.Wait()
			if err := Outlast(ctx, func(ctx context.Context) error { return ctx.Err() }); err != nil {
				t.Errorf("%s: results that answer: %v", name, err)
			}
			begin := time.Now()
			err := Outlast(ctx, func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
			if waited := time.Since(begin); !errors.Is(err, context.Canceled) || waited != interrupt+limit.Grace {
				t.Errorf("%s: waited %s: %v", name, waited, err)
			}
		})
	}
}
