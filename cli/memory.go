package cli

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// bytesPerRow is the minimum size of a row in a batch.
const bytesPerRow = 100

// fits refuses a dataset that would run out of memory.
func fits(ctx context.Context, w workload.Workload, s workload.Spec) error {
	return enough(ctx, w.Describe(s).Memory, "--scale %d takes", s.Scale)
}

// loadFits refuses batches that do not fit: each worker has one at work and
// one ready.
func loadFits(ctx context.Context, l experiment.Load) error {
	batches := uint64(2*l.Workers + 1)
	return enough(ctx, batches*uint64(l.BatchSize)*bytesPerRow, "--workers %d with --batch-size %d take", l.Workers, l.BatchSize)
}

func enough(ctx context.Context, wanted uint64, format string, args ...any) error {
	if available := monitor.AvailableMemory(ctx); wanted > available {
		return fmt.Errorf("%s %s of memory, and only %s are free; lower it, or use a larger machine",
			fmt.Sprintf(format, args...), humanize.IBytes(wanted), humanize.IBytes(available))
	}
	return nil
}
