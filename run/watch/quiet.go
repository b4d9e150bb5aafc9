package watch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
)

const (
	// QuietTries is the maximum number of tries of a phase until it was not disturbed.
	QuietTries = 3
	// quietLook is the time for which the host is observed before a run.
	quietLook = 3 * time.Second
)

// RequireQuiet refuses a run on a host that is not quiet, if the experiment requires a quiet one.
func (w *Watch) RequireQuiet(ctx context.Context) error {
	if !w.strict {
		return nil
	}
	witness := monitor.NewWitness(ctx, nil)
	witness.Begin(ctx)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(quietLook):
	}
	noise := witness.End(ctx, w.bound)
	switch why := noise.Noisy(); {
	case why != "":
		return fmt.Errorf("%w: %w: in %v %s; stop what runs beside, or allow more with --require-quiet=SHARE", plan.ErrInput, record.ErrNotQuiet, quietLook, why)
	case !noise.Others.IsKnown():
		return fmt.Errorf("%w: what other programs use of the CPU cannot be read here, so that no quiet host can be required", plan.ErrInput)
	}
	return nil
}

// Disturbance says why a phase does not count; empty: it does, or the host need not be quiet.
func (w *Watch) Disturbance(n *result.Noise) string {
	if !w.strict {
		return ""
	}
	return n.Noisy()
}

// TooNoisyError returns the error after the last try.
func TooNoisyError(what, why string) error {
	return fmt.Errorf("%w: %d times in a row, %s was disturbed: %s; tsmark resume goes on when it is", record.ErrNotQuiet, QuietTries, what, why)
}

// LoadDisturbance is Disturbance for a load, its mixed phase and the steps after it.
func (w *Watch) LoadDisturbance(l *result.Load) string {
	phases := []*result.Noise{l.Noise}
	if l.Mixed != nil {
		phases = append(phases, l.Mixed.Writes.Noise)
	}
	for i := range l.Steps {
		phases = append(phases, l.Steps[i].Noise)
	}
	at := slices.IndexFunc(phases, func(n *result.Noise) bool { return w.Disturbance(n) != "" })
	if at < 0 {
		return ""
	}
	return w.Disturbance(phases[at])
}
