package runner

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/workload"
)

// mixes reports whether a part of a target's loads is mixed: there are
// queries, and somebody to answer them.
func (x *loadStage) mixes(planned *plannedTarget) bool {
	return x.plan.experiment.Mixed.On() && x.plan.steps.Verify && x.expected != nil && !planned.caps.Discards
}

// mix writes the rest of the dataset while queries are run, loads alone
// what the phase had no time for, and then checks the answers.
func (x *loadStage) mix(ctx context.Context, t driver.DB, planned *plannedTarget, repeat int, load *result.Load) error {
	config := x.mixedConfig(planned, repeat)
	var err error
	written := oplog.Cell{
		Kind: oplog.Load, Target: planned.name, Part: oplog.Mixed, Repeat: repeat,
		Workers: config.Workers, Schedule: x.plan.experiment.Mixed.RowRate,
	}
	if config.Log, err = x.operations.section(written); err != nil {
		return err
	}
	queries, err := x.mixedQueries(written, config.Queriers)
	if err != nil {
		return err
	}
	task := x.Display.Start("load and query "+planned.name, "rows", x.expected.Survey.Rows-config.Loaded)
	progress := func(rows int) { task.Add(int64(rows)) }
	var journal *engine.Journal
	where, err := x.measure(ctx, planned.caps.Embedded, func() (err error) {
		load.Mixed, journal, err = engine.Mixed(ctx, config, x.dataset, t, planned.driver.Renderer(planned.options), queries, progress)
		return err
	})
	load.Mixed.Writes.Cell = where
	if err == nil {
		written.Part, written.Schedule = oplog.Rest, ""
		config.Log, err = x.operations.section(written)
	}
	if err == nil {
		err = x.loadRest(ctx, t, config, load.Mixed, config.Loaded+journal.Handed(), progress)
	}
	if err == nil {
		err = verify.Mixed(ctx, x.dataset, journal, load.Mixed, func(int) {})
	}
	if err != nil {
		task.Fail(reason(ctx, err))
		return fmt.Errorf("loading and querying: %w", err)
	}
	if problem := load.Mixed.Problem(); problem != "" {
		task.Fail(problem)
	} else {
		task.Done("")
	}
	return nil
}

// mixedQueries draws what is run beside the writes of a cell of the
// operation log.
func (x *loadStage) mixedQueries(written oplog.Cell, queriers int) ([]engine.MixedQueries, error) {
	weights := x.plan.settings.weights
	var types []engine.MixedQueries
	for i := range x.queries {
		queries := slices.AppendSeq(make([]query.Query, 0, x.queries[i].record.Count), x.queries[i].all)
		c := written
		c.Kind, c.Type, c.Workers, c.Schedule = oplog.Query, x.queries[i].queryType.Name, queriers, x.plan.experiment.Mixed.QueryRate
		section, err := x.operations.section(c)
		if err != nil {
			return nil, err
		}
		q := engine.MixedQueries{Type: c.Type, Queries: queries, Log: section}
		if weights != nil {
			q.Weight = weights[i]
		}
		types = append(types, q)
	}
	return types, nil
}

// mixedConfig is what the phase of a target in a repeat is like.
func (x *loadStage) mixedConfig(planned *plannedTarget, repeat int) engine.MixedConfig {
	c := x.plan.settings.mixed
	c.Owner, c.Start = x.owner, x.record.Spec.Start
	c.Loaded, c.Lateness = x.rowsBefore(), x.expected.Survey.Lateness
	c.Seed = x.run.CheckSeed + " mixed " + planned.name + " " + strconv.Itoa(repeat)
	return c
}

// loadRest loads the rows that follow those of the phase, of which so many are
// done, whatever the target made of them.
func (x *loadStage) loadRest(ctx context.Context, t driver.DB, c engine.MixedConfig, m *result.Mixed, done int64, progress engine.Progress) error {
	if done >= x.expected.Survey.Rows {
		return nil
	}
	rest, err := engine.Load(ctx, c.LoadConfig, workload.After(x.dataset, done), t, progress)
	m.Rest, m.Writes.Retries = rest.Rows, m.Writes.Retries.Add(rest.Retries)
	return err
}
