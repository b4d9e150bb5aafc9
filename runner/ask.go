package runner

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/experiment"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/pace"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/target"
)

// ask measures the query types that the check has left.
func (x *execution) ask(ctx context.Context, t target.Target, c cell, planned *plannedTarget, out *result.Target) error {
	task := x.Display.Start("ask "+out.Name+ofRepeats(c.repeat, x.plan.experiment.QueryRepeats()), "queries", 0)
	if err := x.askTypes(ctx, t, c, planned, out, task); err != nil {
		task.Fail(reason(ctx, err))
		return err
	}
	task.Done("")
	return nil
}

func (x *execution) askTypes(ctx context.Context, t target.Target, c cell, planned *plannedTarget, out *result.Target, task Task) error {
	for i := range x.questions {
		q := &x.questions[i]
		if x.asked(out, c.repeat, q.kind.Name) {
			continue
		}
		section, err := x.section(oplog.Cell{
			Kind: oplog.Query, Target: out.Name, Type: q.kind.Name, Repeat: c.repeat,
			Workers: x.plan.experiment.Queries.Workers, Questions: len(q.expected[everyRow].counted), Schedule: x.plan.experiment.Queries.Rate,
		})
		if err != nil {
			return err
		}
		var measured *result.Queries
		where, err := x.cell(ctx, planned.kind.Caps.Embedded, func() (err error) {
			measured, err = x.askType(ctx, t, planned, q, section, task)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", q.kind.Name, err)
		}
		where.Stopped = measured.Stopped
		measured.Cell = where
		if err := x.keep(ctx, c, q, out, measured); err != nil {
			return err
		}
	}
	return nil
}

// keep puts what was measured of a type into the run, and stores it.
func (x *execution) keep(ctx context.Context, c cell, q *questions, out *result.Target, measured *result.Queries) error {
	if ceiling := x.run.Calibration; ceiling != nil {
		measured.ClientBound = boundBy(measured.Client, measured.PerSecond, ceiling.QueriesPerSecond, measured.Service.Median)
	}
	measured.Type, measured.Help = q.kind.Name, q.kind.Help
	measured.Verdict = out.RepeatOf(1).Type(q.kind.Name).Verdict
	if r := out.RepeatOf(c.repeat); r.Type(q.kind.Name) != nil {
		*r.Type(q.kind.Name) = *measured
	} else {
		r.Queries = append(r.Queries, *measured)
	}
	return stored(x.Store.SaveQueries(ctx, x.run.ID, out.Name, c.repeat, measured))
}

// askType measures one type, once it is warm.
func (x *execution) askType(ctx context.Context, t target.Target, planned *plannedTarget, q *questions, log *oplog.Section, task Task) (*result.Queries, error) {
	asked, err := x.rendered(planned, q)
	if err != nil {
		return nil, err
	}
	settings := &x.plan.experiment.Queries
	if settings.WarmUp > 0 {
		warm, err := engine.Query(ctx, engine.QueryConfig{Workers: settings.Workers, TimeBox: settings.WarmUp, Timeout: settings.Timeout}, t, asked, func(int) {})
		if err != nil || warm.Withheld != "" {
			return warm, err
		}
	}
	return x.measureType(ctx, t, asked, log, func(n int) { task.Add(int64(n)) })
}

// rendered returns the questions of a type in the target's language.
func (x *execution) rendered(planned *plannedTarget, q *questions) ([]engine.Question, error) {
	queries, err := q.draw()
	if err != nil {
		return nil, err
	}
	counted := q.expected[x.viewOf(planned)].counted
	asked := make([]engine.Question, len(counted)) // none where nothing is measured
	for i := range asked {
		request, err := planned.kind.Render(&queries[i], x.dataset.Schema(), planned.options)
		if err != nil {
			return nil, err
		}
		asked[i] = engine.Question{ID: queries[i].ID, Request: request, Rows: counted[i], Values: queries[i].Values()}
	}
	return asked, nil
}

// measureType asks in the way that the experiment wants.
func (x *execution) measureType(ctx context.Context, t target.Target, asked []engine.Question, log *oplog.Section, progress engine.Progress) (*result.Queries, error) {
	settings := &x.plan.experiment.Queries
	closed := engine.QueryConfig{
		Workers: settings.Workers, BurnIn: settings.BurnIn, Timeout: settings.Timeout,
		TimeBox: x.plan.experiment.TimeBoxOfRepeat(), Log: log,
	}
	if settings.Until != "" {
		var err error
		if closed.Until, err = experiment.ParseShare(settings.Until); err != nil {
			return nil, err
		}
	}
	if !settings.Open() {
		return engine.Query(ctx, closed, t, asked, progress)
	}
	open := engine.OpenConfig{QueryConfig: closed, Queue: cmp.Or(settings.Queue, experiment.DefaultQueue)}
	if closed.TimeBox == 0 {
		open.Count = len(asked)
	}
	if settings.FindMaxRate != "" {
		keep, err := engine.ParseObjective(settings.FindMaxRate)
		if err != nil {
			return nil, err
		}
		return engine.FindMaxRate(ctx, open, engine.Search{}, keep, t, asked, progress)
	}
	var err error
	if open.Schedule, err = pace.Parse(settings.Rate); err != nil {
		return nil, err
	}
	return engine.QueryOpen(ctx, open, t, asked, progress)
}
