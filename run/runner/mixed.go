package runner

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/workload"
)

// mixes reports whether a part of the loads is mixed: there are queries, and
// known answers.
func (s *subject) mixes() bool {
	return s.plan.experiment.Mixed.On() && s.plan.steps.Verify
}

// rowsBefore is how many rows are loaded before the mixed phase.
func (s *subject) rowsBefore() int64 {
	rows, percent := s.expected.Survey.Rows, int64(s.plan.experiment.Mixed.Loaded)
	return rows/100*percent + rows%100*percent/100
}

// mix writes the rest of the dataset while queries are run, loads alone
// what the phase had no time for, and then checks the answers.
func (l *oneLoad) mix(ctx context.Context) error {
	config := l.mixedConfig()
	written := oplog.Cell{
		Kind: oplog.Load, Target: l.on.out.Name, Part: oplog.Mixed, Repeat: l.on.job.repeat, Setting: l.setting,
		Workers: config.Workers, Schedule: l.stage.plan.experiment.Mixed.RowRate,
	}
	var err error
	if config.Log, err = l.stage.record.operations.section(written); err != nil {
		return err
	}
	types, err := l.stage.subject.mixedQueries(written, config.Queriers, l.stage.record.operations.section)
	if err != nil {
		return err
	}
	task := l.stage.record.display.Start("load and query "+l.on.out.Name, "rows", l.stage.subject.expected.Survey.Rows-config.Loaded)
	progress := func(rows int) { task.Add(int64(rows)) }
	var journal *engine.Journal
	where, err := l.stage.watch.measure(ctx, l.on.planned.caps.Embedded || l.stage.team != nil, func() (err error) {
		if l.stage.team != nil {
			l.found.Mixed, journal, err = l.stage.team.mix(ctx, l.on.planned, l.on.db, l.on.job.repeat, config, written, types, task)
			return err
		}
		l.found.Mixed, journal, err = engine.RunMixed(ctx, config, l.stage.subject.dataset, l.on.db, l.on.planned.driver.Renderer(l.on.planned.options), types, progress)
		return err
	})
	where.Parts = l.found.Mixed.Writes.Parts
	l.found.Mixed.Writes.Cell = where
	if err == nil {
		written.Part, written.Schedule = oplog.Rest, ""
		config.Log, err = l.stage.record.operations.section(written)
	}
	if err == nil {
		err = l.loadRest(ctx, config, journal, task)
	}
	if err == nil {
		task.Finish("")
		task = l.stage.record.display.Start("compare answers of "+l.on.out.Name, "rows", l.stage.subject.expected.Survey.Rows)
		journal.InParts = l.on.planned.caps.ShowsInParts
		journal.Hidden = l.found.Visible != nil && l.found.Visible.Missing != ""
		err = verify.Mixed(ctx, l.stage.subject.dataset, journal, l.found.Mixed, progress)
	}
	if err != nil {
		fail(ctx, task, err)
		return fmt.Errorf("loading and querying: %w", err)
	}
	if problem := l.found.Mixed.Problem(); problem != "" {
		task.Fail(problem)
	} else {
		task.Finish("")
	}
	return nil
}

// mixedQueries draws what is run beside the writes of a cell of an operation log, which
// has a section for each type.
func (s *subject) mixedQueries(written oplog.Cell, queriers int, sectionOf func(oplog.Cell) (*oplog.Section, error)) ([]engine.MixedQueries, error) {
	types := make([]engine.MixedQueries, len(s.queries))
	for i, q := range s.queries {
		c := queriedBeside(written, q.queryType.Name, queriers, s.plan.experiment.Mixed.QueryRate)
		section, err := sectionOf(c)
		if err != nil {
			return nil, err
		}
		types[i] = engine.MixedQueries{Type: c.Type, Queries: slices.AppendSeq(make([]query.Query, 0, q.record.Count), q.all), Log: section}
		if weights := s.plan.settings.weights; weights != nil {
			types[i].Weight = weights[i]
		}
	}
	return types, nil
}

// queriedBeside is the cell of the queries of a type that are run by a schedule beside
// writes.
func queriedBeside(written oplog.Cell, queryType string, queriers int, schedule string) oplog.Cell {
	written.Kind, written.Type, written.Workers, written.Schedule = oplog.Query, queryType, queriers, schedule
	return written
}

// mixedSeed is that of the samples of answers of a mixed phase.
func mixedSeed(check, target string, repeat int) string {
	return check + " mixed " + target + " " + strconv.Itoa(repeat)
}

// mixedConfig is what the phase of a target in a repeat is like.
func (l *oneLoad) mixedConfig() engine.MixedConfig {
	c := l.stage.plan.settings.mixed
	c.Owner, c.Start, c.Visible = l.stage.subject.owner, l.stage.subject.record.Spec.Start, l.visibility()
	c.Loaded, c.Lateness = l.stage.subject.rowsBefore(), l.stage.subject.expected.Survey.Lateness
	c.Seed = mixedSeed(l.stage.record.doc.CheckSeed, l.on.out.Name, l.on.job.repeat)
	return c
}

// loadRest loads the rows that follow those of the phase, which were handed to the target,
// whatever it made of them.
func (l *oneLoad) loadRest(ctx context.Context, c engine.MixedConfig, journal *engine.Journal, task Task) error {
	done := c.Loaded + journal.HandedRows()
	if done >= l.stage.subject.expected.Survey.Rows {
		return nil
	}
	var rest *result.Load
	var err error
	if l.stage.team != nil {
		rest, err = l.stage.team.rest(ctx, l.on.planned, l.on.db, c.LoadConfig, journal, task)
	} else {
		c.Visible.Before = done
		rest, err = engine.Load(ctx, c.LoadConfig, workload.SkipRows(l.stage.subject.dataset, done), l.on.db, func(rows int) { task.Add(int64(rows)) })
	}
	m := l.found.Mixed
	m.Rest, m.Writes.Retries = rest.Rows, m.Writes.Retries.Add(rest.Retries)
	return err
}
