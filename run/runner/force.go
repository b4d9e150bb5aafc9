package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// Force decides whether what is named may be dropped from a place, which is
// where the target is as its Description has it. Its error ends the run.
type Force func(ctx context.Context, place string, named []string) error

// makeRoom drops what others left where a dataset is to go, if the user lets
// it. Otherwise it returns the refusal, which says how.
func (x *stage) makeRoom(ctx context.Context, t driver.DB, schema *series.Schema, refusal error) error {
	place, named, err := x.mayClear(ctx, t, schema, refusal)
	if err != nil {
		return err
	}
	if clearer, ok := driver.As[driver.Clearer](t); ok { // mayClear has seen that it is one
		if err := clearer.Clear(ctx, schema, named); err != nil {
			return err
		}
	}
	task := x.Display.Start("dropping from "+place, "", 0)
	task.Done(strings.Join(named, ", "))
	return nil
}

// mayClear names what others left where a dataset is to go, and returns an error
// where the user does not let it go. What was let go is not asked for again.
func (x *stage) mayClear(ctx context.Context, t driver.DB, schema *series.Schema, refusal error) (place string, named []string, err error) {
	clearer, ok := driver.As[driver.Clearer](t)
	if !ok {
		return "", nil, fmt.Errorf("%w: %w", ErrInput, refusal)
	}
	if x.Force == nil {
		return "", nil, fmt.Errorf("%w: %w, or add --force to have it dropped", ErrInput, refusal)
	}
	d, err := t.Describe(ctx)
	if err != nil {
		return "", nil, fmt.Errorf("asking for version and settings: %w", err)
	}
	if named, err = clearer.Foreign(ctx, schema); err != nil {
		return "", nil, err
	}
	if agreed, ok := x.agreed[d.Location]; ok && slices.Equal(agreed, named) {
		return d.Location, named, nil
	}
	if err := x.Force(ctx, d.Location, named); err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	x.agreed[d.Location] = named
	return d.Location, named, nil
}

// openForeign opens a target that refused to open because of others' data, for
// do. What is no database at all is the refusal.
func (x *stage) openForeign(ctx context.Context, planned *plannedTarget, env driver.Env, refusal error, do func(driver.DB) error) error {
	env.Foreign = true
	full, err := planned.kind.Open(ctx, env, planned.options)
	if err != nil {
		return refusal
	}
	err = do(full)
	if closeErr := full.Close(); err == nil {
		err = closeErr
	}
	return err
}

// openCleared opens a target that refused to open because of others' data, once
// that is gone.
func (x *stage) openCleared(ctx context.Context, planned *plannedTarget, env driver.Env, refusal error) (driver.DB, error) {
	err := x.openForeign(ctx, planned, env, refusal, func(t driver.DB) error { return x.makeRoom(ctx, t, x.schema(), refusal) })
	if err != nil {
		return nil, err
	}
	return planned.kind.Open(ctx, env, planned.options)
}

// prepareFor prepares the target, and makes room first where a name that the
// dataset needs is taken.
func (x *stage) prepareFor(ctx context.Context, t driver.DB, schema *series.Schema, mark driver.Mark) error {
	err := t.Prepare(ctx, schema, mark)
	if errors.Is(err, driver.ErrForeign) {
		if err := x.makeRoom(ctx, t, schema, err); err != nil {
			return err
		}
		err = t.Prepare(ctx, schema, mark)
	}
	if err != nil {
		return fmt.Errorf("preparing for the load: %w", err)
	}
	return nil
}
