package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
)

// Force decides whether what is named may be dropped from a place, which is
// where the target is as its Description has it. Its error ends the run.
type Force func(ctx context.Context, place string, named []string) error

// makeRoom drops what others left where a dataset is to go, if the user lets
// it. Otherwise it returns the refusal, which says how.
func (x *execution) makeRoom(ctx context.Context, t target.Target, schema *series.Schema, refusal error) error {
	clearer, ok := t.(target.Clearer)
	if !ok {
		return fmt.Errorf("%w: %w", ErrInput, refusal)
	}
	if x.Force == nil {
		return fmt.Errorf("%w: %w, or add --force to have it dropped", ErrInput, refusal)
	}
	d, err := t.Describe(ctx)
	if err != nil {
		return fmt.Errorf("asking for version and settings: %w", err)
	}
	named, err := clearer.Foreign(ctx, schema)
	if err != nil {
		return err
	}
	if err := x.Force(ctx, d.Location, named); err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	if err := clearer.Clear(ctx, schema, named); err != nil {
		return err
	}
	task := x.Display.Start("dropping from "+d.Location, "", 0)
	task.Done(strings.Join(named, ", "))
	return nil
}

// openCleared opens a target that refused to open because of others' data,
// once that is gone. What is no database at all is never cleared.
func (x *execution) openCleared(ctx context.Context, planned *plannedTarget, env target.Env, refusal error) (target.Target, error) {
	env.Foreign = true
	full, err := planned.kind.Open(ctx, env, planned.options)
	if err != nil {
		return nil, refusal
	}
	err = x.makeRoom(ctx, full, x.schema(), refusal)
	if closeErr := full.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	env.Foreign = false
	return planned.kind.Open(ctx, env, planned.options)
}

// prepareFor prepares the target, and makes room first where a name that the
// dataset needs is taken.
func (x *execution) prepareFor(ctx context.Context, t target.Target, schema *series.Schema, mark target.Mark) error {
	err := t.Prepare(ctx, schema, mark)
	if errors.Is(err, target.ErrForeign) {
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
