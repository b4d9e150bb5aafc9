package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// grow divides the load into steps, if columns are to appear. It reports whether the target can be
// loaded in steps; if not, found has the reason.
func (l *load) grow() (bool, error) {
	if l.stage.Plan.Experiment.Load.Columns != experiment.ColumnsAppear {
		return true, nil
	}
	if l.on.DB.Grow == nil {
		l.found = &result.Load{
			Workers: l.on.Planned.Workers, BatchSize: l.on.Planned.BatchSize, DiskBytes: -1, DiskBefore: -1, DiskSettled: -1,
			Growth: &result.Growth{Unsupported: fmt.Sprintf("tsmark's driver %s writes to columns that are there, and does not try others", l.on.Planned.Driver.Name)},
		}
		return false, nil
	}
	growing, ok := l.stage.Subject.Dataset.(workload.Growing)
	if !ok {
		return false, l.stage.Plan.Experiment.Problem("load.columns", "the workload's rows have all columns from the start")
	}
	steps, err := growing.Steps()
	if err != nil {
		return false, fmt.Errorf("dividing the dataset into steps: %w", err)
	}
	l.steps, l.feed.Rows = steps, 0
	for _, s := range steps {
		l.feed.Rows += s.Rows
	}
	return true, nil
}

// session returns the session for the target. If columns appear, it creates only those of the first
// step.
func (l *load) session() session.Session {
	s := session.New(l.on.DB)
	if l.steps != nil {
		s = s.Beginning(l.steps[0].Schema())
	}
	return s
}

// sendSteps loads step by step: each starts when the one before has settled, with new connections,
// as a changed program would. If the driver says that the system does not add columns and the
// system refuses rows with new ones, that error is the result.
func (l *load) sendSteps(ctx context.Context, config engine.LoadConfig, progress engine.Progress) error {
	growth := &result.Growth{}
	acked := config.Acked
	for i, step := range l.steps {
		config.Acked = nil
		if i == len(l.steps)-1 {
			config.Acked = acked
		}
		if i > 0 {
			if err := l.nextStep(i+1, &step, &config); err != nil {
				return err
			}
		}
		found, err := engine.Load(ctx, config, step, l.on.DB, progress)
		if i == 0 {
			l.found = found
		}
		l.found.Growth = growth
		if err != nil && i > 0 {
			if l.found.Rows += found.Rows; l.refuses(ctx, err) {
				growth.Unsupported = fmt.Sprintf("%s makes no columns: %v", l.on.Planned.Driver.Name, err)
			}
		}
		if err != nil {
			return err
		}
		config.Visible.Before += found.Rows
		growth.Steps = append(growth.Steps, result.GrowthStep{
			Tags: step.Tags, Fields: step.Fields, Rows: found.Rows, Sent: found.Sent, Acked: found.Acked, Settled: found.Settled,
			Median: found.Batches.Median, Slowest: found.Batches.Max,
		})
		if i == 0 {
			continue
		}
		if err := l.found.Extend(found); err != nil {
			return err
		}
	}
	return nil
}

// nextStep tells the target's writers the columns of a step, and starts its part of the operation
// log.
func (l *load) nextStep(number int, step *workload.Step, config *engine.LoadConfig) (err error) {
	if err := l.on.DB.Grow(step.Schema()); err != nil {
		return err
	}
	config.Log, err = l.stage.Record.Log.Section(oplog.Cell{
		Kind: oplog.Load, Part: oplog.Step(number), Target: l.on.out.Name, Repeat: l.on.job.Repeat, Setting: l.setting, Workers: config.Workers,
	})
	return err
}

// withoutQueries records that a target that could not be loaded answers none of its query types.
func (x *Loader) withoutQueries(ctx context.Context, out *result.Target) error {
	why := lastLoad(out).UnsupportedReason()
	if why == "" {
		return nil
	}
	for _, q := range x.Subject.Queries {
		if out.RepeatOf(1).Type(q.Type.Name) != nil {
			continue
		}
		none := &result.Queries{Type: q.Type.Name, Help: q.Type.Help, Texts: x.Plan.TextSource(&q), Unsupported: "it was not loaded: " + why}
		if err := x.Record.KeepQueries(ctx, out, 1, none); err != nil {
			return err
		}
	}
	return nil
}

// refuses reports whether an error of a step is the refusal of a system that does not add columns,
// rather than an error that another load might not have.
func (l *load) refuses(ctx context.Context, err error) bool {
	return !l.on.Planned.Caps.MakesColumns && ctx.Err() == nil && driver.AsTemporary(err) == nil && !errors.Is(err, driver.ErrUnreachable)
}
