package record

import (
	"context"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/workload/ingest"
)

// ErrNoAgents is wrapped by the error that ends a run whose agents are all gone. What was
// finished is stored, and the run can be resumed.
var ErrNoAgents = errors.New("no agent is left")

// ErrNotQuiet is wrapped by the error that ends a run whose experiment requires
// a quiet host, where other programs disturbed a phase again and again. What was
// finished is stored, and the run can be resumed.
var ErrNotQuiet = errors.New("the host is not quiet")

// JoinStoreError is an error, on one line, and what then happened to storing it.
func JoinStoreError(err, stored error) error {
	if err == nil || stored == nil {
		return errors.Join(err, stored)
	}
	return fmt.Errorf("%w (and it could not be stored: %w)", err, stored)
}

// errStore is wrapped where a result could not be stored, which is no fault of
// the target's and ends the run.
var ErrStore = errors.New("results cannot be stored")

// Outlast stores something also when ctx has ended: in the time that limit.Grace says, so
// that nobody waits for results that do not answer.
func Outlast(ctx context.Context, store func(context.Context) error) error {
	longer, end := limit.Outlive(ctx)
	defer end()
	return store(longer)
}

// StoreError returns the error of a store, marked as one.
func StoreError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrStore, err)
}

// Fail ends a task that an error ended. The error is told where the run ends, and not
// here too: of one that ends the whole run that is at once.
func Fail(ctx context.Context, task Task, err error) {
	switch {
	case ctx.Err() != nil:
		task.Fail(Reason(ctx, err))
	case EndsRun(err):
		task.Fail("")
	default:
		task.Fail(leftOut)
	}
}

// leftOut is what is said of a target when it fails.
const leftOut = "the target takes no further part"

// EndsRun reports whether an error is about what the user gave, the results or
// the host, and not about one target.
func EndsRun(err error) bool {
	var beyond *driver.NotHeldError
	return errors.Is(err, plan.ErrInput) || errors.Is(err, ingest.ErrSource) || errors.As(err, &beyond) || errors.Is(err, driver.ErrExisting) ||
		errors.Is(err, ErrStore) || errors.Is(err, ErrNotQuiet) || errors.Is(err, ErrNoAgents)
}

// Reason is an error as a line for people.
func Reason(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	return err.Error()
}
