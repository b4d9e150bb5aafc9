package setting

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/workload"
)

// bytesPerRow is the minimum size of a row in a batch.
const bytesPerRow = 100

// CheckMemory refuses an experiment that would run out of memory.
func CheckMemory(ctx context.Context, c catalog.Catalog, e *experiment.Experiment, steps plan.Steps) error {
	if !steps.Load {
		return nil
	}
	w, err := c.Workload(e.Workload.Name)
	if err != nil {
		return err
	}
	if err := CheckDatasetMemory(ctx, w, e.Workload); err != nil {
		return err
	}
	// Each worker has one batch at work and one ready.
	for i := range e.Targets {
		l := e.LoadOf(i)
		if err := checkAvailable(ctx, uint64(2*l.Workers+1)*uint64(l.BatchSize)*bytesPerRow, "%d workers with batches of %d rows take", l.Workers, l.BatchSize); err != nil {
			return err
		}
	}
	return nil
}

// CheckDatasetMemory refuses a dataset that would run out of memory.
func CheckDatasetMemory(ctx context.Context, w workload.Workload, s workload.Spec) error {
	return checkAvailable(ctx, w.Describe(s).Memory, "--scale %d takes", s.Scale)
}

func checkAvailable(ctx context.Context, wanted uint64, format string, args ...any) error {
	if available := monitor.AvailableMemory(ctx); wanted > available {
		return fmt.Errorf("%s %s of memory, and only %s are free; lower it, or use a larger machine",
			fmt.Sprintf(format, args...), humanize.IBytes(wanted), humanize.IBytes(available))
	}
	return nil
}
