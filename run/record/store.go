package record

import (
	"context"

	"github.com/tsmark/tsmark/result"
)

// Store keeps a run piece by piece.
type Store interface {
	// Begin keeps a run that begins, and gives it its ID.
	Begin(context.Context, *result.Run) error
	// Append keeps a piece of a run, which has it already, as soon as it is
	// finished.
	Append(context.Context, *result.Run, *result.Piece) error
	// Save keeps the run as it is now, in the place of all that was kept of it.
	Save(context.Context, *result.Run) error
	// Discard removes a run.
	Discard(ctx context.Context, runID string) error
	BeginSweep(context.Context, *result.Sweep) error
	// DiscardSweep removes a sweep without runs.
	DiscardSweep(ctx context.Context, id string) error
	// Loaded returns the ids of the runs that loaded a target of the name and
	// kind, newest first.
	Loaded(ctx context.Context, target, kind string) ([]string, error)
	// Lock keeps every other process from the run or sweep until unlock; its error
	// wraps ErrInput where one is at it.
	Lock(ctx context.Context, id string) (unlock func(), err error)
}
