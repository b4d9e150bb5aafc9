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

// ErrNoAgents is wrapped by the error that ends a run when all agents are lost. Finished work is
// stored, and the run can be resumed.
var ErrNoAgents = errors.New("no agent is left")

// ErrNotQuiet is wrapped by the error that ends a run that requires a quiet host if other programs
// disturbed a phase repeatedly. Finished work is stored, and the run can be resumed.
var ErrNotQuiet = errors.New("the host is not quiet")

// JoinStoreError joins an error with the error of storing the result, on one line.
func JoinStoreError(err, stored error) error {
	if err == nil || stored == nil {
		return errors.Join(err, stored)
	}
	return fmt.Errorf("%w (and it could not be stored: %w)", err, stored)
}

// ErrStore is wrapped if a result could not be stored. This is not a failure of the target, and
// ends the run.
var ErrStore = errors.New("results cannot be stored")

// Outlast stores something even if ctx has ended, within the time limit.Grace, so that nobody waits
// for results that do not answer.
func Outlast(ctx context.Context, store func(context.Context) error) error {
	longer, end := limit.Outlive(ctx)
	defer end()
	return store(longer)
}

// StoreError marks an error as an error of the store.
func StoreError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrStore, err)
}

// Fail ends a task with an error. The error itself is reported at the end of the run, so it is not
// repeated here; an error that ends the whole run is reported immediately.
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

// leftOut is the text for a target that fails.
const leftOut = "the target takes no further part"

// EndsRun reports whether an error concerns the user's input, the results or the host, and not a
// single target.
func EndsRun(err error) bool {
	var beyond *driver.NotHeldError
	return errors.Is(err, plan.ErrInput) || errors.Is(err, ingest.ErrSource) || errors.As(err, &beyond) || errors.Is(err, driver.ErrExisting) ||
		errors.Is(err, ErrStore) || errors.Is(err, ErrNotQuiet) || errors.Is(err, ErrNoAgents)
}

// Reason formats an error as a line for users.
func Reason(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	return err.Error()
}
