package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/series"
)

// Batches that have an owner are written by it, in their order.
func TestOwners(t *testing.T) {
	const workers = 3
	d := dataset(t, 100, 1000*10e9) // a batch an epoch: 1,000 batches
	owner := func(b *series.Batch) int { return int(b.Runs[0].Times[0]/10e9) % workers }
	run := func(t *testing.T, load func(engine.LoadConfig, driver.DB) error) {
		var mu sync.Mutex
		var last [workers]int64
		batches := 0
		s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{}, nil }}
		s.write = func(_ context.Context, worker int, b *series.Batch) (driver.Receipt, error) {
			mu.Lock()
			defer mu.Unlock()
			if at := b.Runs[0].Times[0]; owner(b) != worker || at <= last[worker] {
				t.Errorf("writer %d writes a batch of writer %d, at %d after %d", worker, owner(b), at, last[worker])
			} else {
				last[worker] = at
			}
			batches++
			return accept(b), nil
		}
		if err := load(engine.LoadConfig{Workers: workers, BatchSize: 100, Owner: owner}, driver.DB{Required: s}); err != nil || batches != 1000 {
			t.Errorf("%d batches, error %v", batches, err)
		}
	}
	t.Run("load", func(t *testing.T) {
		run(t, func(c engine.LoadConfig, s driver.DB) error {
			_, err := engine.Load(t.Context(), c, d, s, ignore)
			return err
		})
	})
	t.Run("mixed", func(t *testing.T) {
		run(t, func(c engine.LoadConfig, s driver.DB) error {
			cfg := mixedConfig()
			cfg.LoadConfig, cfg.Share = c, 0.5
			_, _, err := engine.RunMixed(t.Context(), cfg, d, s, renderEnd, lastRow(), ignore)
			return err
		})
	})
}
