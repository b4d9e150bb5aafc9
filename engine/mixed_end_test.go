package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// The phase ends with a schedule of rows that ends.
func TestMixedEndsWithSchedule(t *testing.T) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 2}, nil }}
	s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) { return accept(b), nil }
	cfg := mixedConfig()
	cfg.RowRate = pace.Steps{{Rate: 10_000, For: 50 * time.Millisecond}}
	out, _, err := engine.RunMixed(t.Context(), cfg, dataset(t, 100, time.Hour), driver.DB{Required: s}, renderEnd, lastRow(), ignore)
	if err != nil || out.Writes.Rows != 500 || out.RowRate != "steps:10000/s:50ms" {
		t.Errorf("%d rows at %s, error %v; want 500", out.Writes.Rows, out.RowRate, err)
	}
}

// A target that takes ten times as long for a batch as the schedule leaves is saturated.
func TestMixedSaturated(t *testing.T) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 2}, nil }}
	s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
		time.Sleep(10 * time.Millisecond)
		return accept(b), nil
	}
	cfg := mixedConfig()
	cfg.Workers, cfg.RowRate = 1, pace.Steps{{Rate: 100_000, For: 50 * time.Millisecond}} // 50 batches
	out, _, err := engine.RunMixed(t.Context(), cfg, dataset(t, 100, time.Hour), driver.DB{Required: s}, renderEnd, lastRow(), ignore)
	if err != nil || !strings.HasPrefix(out.Saturated, "saturated: ") || !strings.Contains(out.Saturated, " rows/s written of 100,0") {
		t.Errorf("%q, error %v", out.Saturated, err)
	}
}

// No batch begins after the end of the phase, even if it was ready before, and the target was
// handed the first rows of the dataset.
func TestMixedEndsInTime(t *testing.T) {
	const duration = time.Second // far more than a goroutine waits for a processor
	for name, set := range map[string]func(*engine.MixedConfig){
		"as fast as it goes": func(*engine.MixedConfig) {},
		"by share":           func(c *engine.MixedConfig) { c.Share = 0.9 },
		"by rate":            func(c *engine.MixedConfig) { c.RowRate = pace.Constant(100_000) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 2}, nil }}
			s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
				time.Sleep(duration + 100*time.Millisecond)
				return driver.Receipt{Sent: time.Now(), Acked: time.Now(), Rows: 1}, nil // of 100: not all are accepted
			}
			cfg := mixedConfig()
			cfg.Workers, cfg.Duration = 1, duration
			set(&cfg)
			out, journal, err := engine.RunMixed(t.Context(), cfg, dataset(t, 100, time.Hour), driver.DB{Required: s}, renderEnd, lastRow(), ignore)
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range journal.Shares[0].Writes {
				if w.Begin > duration {
					t.Errorf("batch %d of %d begun after %v", i+1, out.Writes.Batches.Count, w.Begin)
				}
			}
			if out.Writes.Batches.Count != 1 {
				t.Errorf("%d batches; want 1", out.Writes.Batches.Count)
			}
			if journal.HandedRows() != 100 || out.Writes.Rows != 1 {
				t.Errorf("%d rows handed over, %d accepted; want 100 and 1", journal.HandedRows(), out.Writes.Rows)
			}
		})
	}
}

// Queries are run until the end of the phase, though no further batch is
// due before it.
func TestMixedLasts(t *testing.T) {
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 2}, nil }}
	s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) { return accept(b), nil }
	cfg := mixedConfig()
	// The first batch is due after 0.1 s, and the second one long after the end.
	cfg.RowRate = pace.Steps{{Rate: 1000, For: 100 * time.Millisecond}, {Rate: 1, For: time.Hour}}
	cfg.QueryRate, cfg.Queue, cfg.Duration = pace.Constant(200), 100, time.Second
	out, _, err := engine.RunMixed(t.Context(), cfg, dataset(t, 100, time.Hour), driver.DB{Required: s}, renderEnd, lastRow(), ignore)
	if err != nil || out.Writes.Rows != 100 || out.Arrivals < 100 || out.Wall < 0.5 {
		t.Errorf("%d rows, %d queries due in %.3f s, error %v; want 100 rows and 200 queries in 1 s", out.Writes.Rows, out.Arrivals, out.Wall, err)
	}
}

// endless is a dataset whose rows never end.
type endless struct{ workload.Dataset }

func (e endless) Open() workload.Reader { return endlessReader{e.Dataset} }

type endlessReader struct{ d workload.Dataset }

func (r endlessReader) Next(b *series.Batch, rows int) error { return r.d.Open().Next(b, rows) }

// Who interrupts does not wait until the loaded rows have been passed over.
func TestMixedInterruptedBefore(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	cfg := mixedConfig()
	cfg.Loaded = 1 << 60
	if _, _, err := engine.RunMixed(ctx, cfg, endless{dataset(t, 100, time.Hour)}, driver.DB{Required: &stub{}}, renderEnd, lastRow(), ignore); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
