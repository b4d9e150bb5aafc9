package record

import (
	"context"

	"github.com/tsmark/tsmark/result"
)

// Store stores a run piece by piece.
type Store interface {
	// Begin stores a new run, and sets its ID.
	Begin(context.Context, *result.Run) error
	// Append stores a piece of a run as soon as it is finished; the run already contains it.
	Append(context.Context, *result.Run, *result.Piece) error
	// Save replaces everything stored for the run by the run.
	Save(context.Context, *result.Run) error
	// Discard removes a run.
	Discard(ctx context.Context, runID string) error
	BeginSweep(context.Context, *result.Sweep) error
	// DiscardSweep removes a sweep without runs.
	DiscardSweep(ctx context.Context, id string) error
	// RunsThatLoaded returns the IDs of the runs that loaded a target of the name and driver, newest first.
	RunsThatLoaded(ctx context.Context, target, kind string) ([]string, error)
	// Lock locks the run or sweep against every other process until unlock; it
	// returns an error if another process holds the lock.
	Lock(ctx context.Context, id string) (unlock func(), err error)
}
