package runner

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// ask measures the query types that the check has left.
func (x *execution) ask(ctx context.Context, t driver.DB, c cell, planned *plannedTarget, out *result.Target) error {
	task := x.Display.Start("query "+out.Name+ofRepeats(c.repeat, x.plan.experiment.QueryRepeats()), "queries", 0)
	if err := x.askTypes(ctx, t, c, planned, out, task); err != nil {
		task.Fail(reason(ctx, err))
		return err
	}
	task.Done("")
	return nil
}

func (x *execution) askTypes(ctx context.Context, t driver.DB, c cell, planned *plannedTarget, out *result.Target, task Task) error {
	kept := upkeep(ctx, t)
	for i := range x.questions {
		q := &x.questions[i]
		if x.asked(out, c.repeat, q.kind.Name) {
			continue
		}
		measured, taken, err := x.askQuietly(ctx, t, c, planned, out, q, task)
		if err != nil {
			return fmt.Errorf("%s: %w", q.kind.Name, err)
		}
		measured.Upkeep = kept
		if err := x.keep(ctx, c, q, out, measured, taken); err != nil {
			return err
		}
	}
	return nil
}

// askQuietly measures a type, and again where the experiment requires a quiet
// host and others disturbed it. It returns the answers that were taken meanwhile.
func (x *execution) askQuietly(ctx context.Context, t driver.DB, c cell, planned *plannedTarget, out *result.Target, q *questions, task Task) (*result.Queries, []engine.Answered, error) {
	first, end := q.of(c.repeat)
	for try := 1; ; try++ {
		logged := oplog.Cell{
			Kind: oplog.Query, Target: out.Name, Type: q.kind.Name, Repeat: c.repeat,
			Workers: x.plan.experiment.Queries.Workers, Questions: end - first, First: first, Schedule: x.plan.experiment.Queries.Rate,
		}
		if try > 1 {
			logged.Setting = fmt.Sprintf("try %d", try) // the log keeps those that were disturbed too
		}
		section, err := x.section(logged)
		if err != nil {
			return nil, nil, err
		}
		capture := x.capture(q, c.repeat)
		var measured *result.Queries
		where, err := x.cell(ctx, planned.caps.Embedded, func() (err error) {
			measured, err = x.askType(ctx, t, c, planned, q, capture, section, task)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		where.Stopped = measured.Stopped
		measured.Cell = where
		switch why := x.disturbed(where.Noise); {
		case why == "":
			return measured, capture.Answers(), nil
		case try == quietTries:
			return nil, nil, tooNoisy("target "+out.Name, why)
		}
	}
}

// capture takes the answers of the type's sample in a repeat.
func (x *execution) capture(q *questions, repeat int) *engine.Capture {
	operations := int64(q.repeats) * int64(q.longest())
	if x.plan.experiment.Queries.Open() {
		operations = engine.Endless
	}
	return &engine.Capture{
		Sample: engine.NewSample(x.run.CheckSeed, q.kind.Name, x.plan.experiment.Queries.Verify, engine.OneOf, operations),
		Repeat: repeat - 1, Repeats: q.repeats,
	}
}

// keep puts what was measured of a type into the run, and stores it with the
// answers that were taken meanwhile.
func (x *execution) keep(ctx context.Context, c cell, q *questions, out *result.Target, measured *result.Queries, taken []engine.Answered) error {
	if err := x.taken().put(phase{out.Name, q.kind.Name, c.repeat}, taken); err != nil {
		return fmt.Errorf("%w: keeping answers that are to be compared: %w", errStore, err)
	}
	if ceiling := x.run.Calibration; ceiling != nil {
		measured.ClientBound = boundBy(&measured.Cell, measured.PerSecond, ceiling.QueriesPerSecond, measured.Service.Median)
	}
	measured.Type, measured.Help = q.kind.Name, q.kind.Help
	s := &measured.Sample
	s.Wanted, s.Early, s.Repeated = x.plan.experiment.Queries.Verify, out.RepeatOf(1).Type(q.kind.Name).Sample.Early, q.repeated
	s.Short = strings.Contains(measured.Stopped, result.StoppedByTime) && int(measured.Asked) < q.least(c.repeat)
	out.RepeatOf(c.repeat).Put(measured)
	return x.keepQueries(ctx, out, c.repeat, measured)
}

// askType measures one type, once it is warm.
func (x *execution) askType(ctx context.Context, t driver.DB, c cell, planned *plannedTarget, q *questions, capture *engine.Capture, log *oplog.Section, task Task) (*result.Queries, error) {
	asked := x.rendered(planned, q, c.repeat)
	defer asked.close()
	settings := &x.plan.experiment.Queries
	first, _ := q.of(c.repeat)
	cfg := engine.QueryConfig{
		Workers: settings.Workers, BurnIn: settings.BurnIn, Timeout: settings.Timeout, TimeBox: x.plan.experiment.TimeBoxOfRepeat(),
		Least: q.least(c.repeat), First: first, Log: log, Capture: capture, WarmUp: engine.WarmUp{Time: settings.WarmUp},
	}
	// One query that takes longer than the time box would cost more than all that
	// is measured, and of so long a time the connection is no part.
	if settings.WarmUp > 0 || !x.slow[slowType{planned.name, q.kind.Name}] {
		var err error
		if cfg.WarmUp.Questions, err = x.warmUps(planned, q, c.repeat); err != nil {
			return nil, err
		}
	}
	return x.measureType(ctx, t, cfg, asked, func(n int) { task.Add(int64(n)) })
}

// renderOne renders one query, whose answer is nothing known of.
func (x *execution) renderOne(planned *plannedTarget, q *query.Query) (engine.Question, error) {
	schema := x.dataset.Schema()
	request, err := planned.kind.Render(q, schema, planned.options)
	if err != nil {
		return engine.Question{}, err
	}
	// The oracle keeps digests of those rows whose order does not matter.
	_, limited := q.Shape.(query.AnyRows)
	whole := !q.Stored() || q.Order() != query.Unordered || limited
	return engine.Question{ID: q.ID, Request: request, Values: q.Values(), Columns: q.Columns(schema.Table(q.Table)), Whole: whole}, nil
}

// warmUps returns the queries that connections are warmed up with, other ones in
// each repeat in as far as there are such.
func (x *execution) warmUps(planned *plannedTarget, q *questions, repeat int) ([]engine.Question, error) {
	var list []engine.Question
	for i := range q.spare {
		one, err := x.renderOne(planned, &q.spare[(i+repeat*len(q.spare)/q.repeats)%len(q.spare)])
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// measureType asks in the way that the experiment wants.
func (x *execution) measureType(ctx context.Context, t driver.DB, closed engine.QueryConfig, asked engine.Source, progress engine.Progress) (*result.Queries, error) {
	settings := &x.plan.experiment.Queries
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
		open.Count = asked.Len()
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
