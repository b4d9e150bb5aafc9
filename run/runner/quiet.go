package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/result"
)

// ErrNotQuiet is wrapped by the error that ends a run whose experiment requires
// a quiet host, where other programs disturbed a phase again and again. What was
// finished is stored, and the run can be resumed.
var ErrNotQuiet = errors.New("the host is not quiet")

const (
	// quietTries is how often a phase is measured, at most, until it was not
	// disturbed.
	quietTries = 3
	// quietLook is for how long the host is watched before a run.
	quietLook = 3 * time.Second
)

// lookForQuiet refuses a run on a host that is not quiet, where the experiment
// requires one.
func (w *watch) lookForQuiet(ctx context.Context) error {
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
		return fmt.Errorf("%w: %w: in %v %s; stop what runs beside, or allow more with --require-quiet=SHARE", ErrInput, ErrNotQuiet, quietLook, why)
	case !noise.Others.IsKnown():
		return fmt.Errorf("%w: what other programs use of the CPU cannot be read here, so that no quiet host can be required", ErrInput)
	}
	return nil
}

// disturbed says why a phase does not count; empty: it does, or any host will do.
func (w *watch) disturbed(n *result.Noise) string {
	if !w.strict {
		return ""
	}
	return n.Noisy()
}

// tooNoisy is the error after the last try.
func tooNoisy(what, why string) error {
	return fmt.Errorf("%w: %d times in a row, %s was disturbed: %s; tsmark resume goes on when it is", ErrNotQuiet, quietTries, what, why)
}

// quietly loads, and again where others disturbed the load, its mixed phase or a
// step after it, and keeps the load that counts.
func (x *loadStage) quietly(ctx context.Context, out *result.Target, number int, once func(try int) (*result.Load, error)) error {
	for try := 1; ; try++ {
		load, err := once(try)
		if load == nil {
			return err
		}
		if why := x.watch.disturbedLoad(load); err == nil && why != "" {
			if try < quietTries && (x.subject.file == nil || x.plan.experiment.Load.File != "-") { // standard input cannot be read again
				continue
			}
			// Not settled: who resumes the run loads anew.
			load.Withheld, load.Settled = ErrNotQuiet.Error()+": "+why, 0
			err = tooNoisy("the load of target "+out.Name, why)
		}
		return both(err, outlast(ctx, func(ctx context.Context) error { return x.record.keepLoad(ctx, out, number, load) }))
	}
}

// disturbedLoad is disturbed of a load, its mixed phase and the steps after it.
func (w *watch) disturbedLoad(l *result.Load) string {
	phases := []*result.Noise{l.Noise}
	if l.Mixed != nil {
		phases = append(phases, l.Mixed.Writes.Noise)
	}
	for i := range l.Steps {
		phases = append(phases, l.Steps[i].Noise)
	}
	at := slices.IndexFunc(phases, func(n *result.Noise) bool { return w.disturbed(n) != "" })
	if at < 0 {
		return ""
	}
	return w.disturbed(phases[at])
}
