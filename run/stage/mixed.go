package stage

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/workload"
)

// mix writes the rest of the dataset while queries run, loads alone the rows that the phase had no
// time for, and then checks the answers.
func (l *load) mix(ctx context.Context) error {
	config := l.mixedConfig()
	written := oplog.Cell{
		Kind: oplog.Load, Target: l.on.out.Name, Part: oplog.Mixed, Repeat: l.on.job.Repeat, Setting: l.setting,
		Workers: config.Workers,
	}
	queries := ""
	written.Schedule, queries = config.Schedules()
	var err error
	if config.Log, err = l.stage.Record.Log.Section(written); err != nil {
		return err
	}
	types, err := l.stage.Subject.MixedQueries(written, config.Queriers, queries, l.stage.Record.Log.Section)
	if err != nil {
		return err
	}
	task := l.stage.Record.Display.Start("load and query "+l.on.out.Name, "rows", l.stage.Subject.Expected.Survey.Rows-config.Loaded)
	progress := func(rows int) { task.Add(int64(rows)) }
	var journal *engine.Journal
	measurement := l.stage.Watch.Begin(ctx, l.on.Planned.Caps.Embedded || l.stage.Team != nil)
	if l.stage.Team != nil {
		l.found.Mixed, journal, err = l.stage.Team.Mix(ctx, l.on.Planned, l.on.DB, l.on.job.Repeat, config, written, types, task)
	} else {
		l.found.Mixed, journal, err = engine.RunMixed(ctx, config, l.stage.Subject.Dataset, l.on.DB, l.on.Planned.Driver.Renderer(l.on.Planned.Options), types, progress)
	}
	where := measurement.End(ctx)
	where.Parts = l.found.Mixed.Writes.Parts
	l.found.Mixed.Writes.Cell = where
	if err == nil {
		written.Part, written.Schedule = oplog.Rest, ""
		config.Log, err = l.stage.Record.Log.Section(written)
	}
	if err == nil {
		err = l.loadRest(ctx, config, journal, task)
	}
	if err == nil {
		task.Finish("")
		task = l.stage.Record.Display.Start("compare answers of "+l.on.out.Name, "rows", l.stage.Subject.Expected.Survey.Rows)
		journal.Semantics = l.on.Planned.Driver.Semantics
		journal.InParts = l.on.Planned.Caps.ShowsInParts
		journal.Hidden = l.found.Visible != nil && l.found.Visible.Missing != ""
		next := record.Next(l.stage.Record.Display, &task)
		err = verify.CheckMixed(ctx, l.stage.Subject.Dataset, journal, l.found.Mixed, verify.MixedProgress{
			Progress: oracle.Progress{Rows: progress, Evaluated: next("evaluate PromQL for the answers of "+l.on.out.Name, "queries")},
			Examined: next("compare answers of "+l.on.out.Name+" with older states", "answers"),
		})
	}
	if err != nil {
		record.Fail(ctx, task, err)
		return fmt.Errorf("loading and querying: %w", err)
	}
	if problem := l.found.Mixed.Problem(); problem != "" {
		task.Fail(problem)
	} else {
		task.Finish("")
	}
	return nil
}

// mixedConfig returns the configuration of the phase of a target in a repeat.
func (l *load) mixedConfig() engine.MixedConfig {
	c := l.stage.Plan.MixedConfig(l.on.Planned)
	c.Owner, c.Start, c.Visible = l.feed.Owner, l.stage.Subject.Record.Spec.Start, l.visibility()
	c.Loaded, c.Lateness = l.stage.Subject.RowsBefore(), l.stage.Subject.Expected.Survey.Lateness
	l.stage.Subject.PaceMixed(&c, l.stage.Subject.Expected.Survey.Rows-c.Loaded)
	c.Seed = subject.MixedSeed(l.stage.Record.Doc.CheckSeed, l.on.out.Name, l.on.job.Repeat)
	return c
}

// loadRest loads the rows that follow the rows of the phase, whether or not the target stored the
// latter.
func (l *load) loadRest(ctx context.Context, c engine.MixedConfig, journal *engine.Journal, task record.Task) error {
	done := c.Loaded + journal.HandedRows()
	if done >= l.stage.Subject.Expected.Survey.Rows {
		return nil
	}
	var rest *result.Load
	var err error
	if l.stage.Team != nil {
		rest, err = l.stage.Team.LoadRest(ctx, l.on.Planned, l.on.DB, c.LoadConfig, journal, task)
	} else {
		c.Visible.Before = done
		rest, err = engine.Load(ctx, c.LoadConfig, workload.SkipRows(l.stage.Subject.Dataset, done), l.on.DB, func(rows int) { task.Add(int64(rows)) })
	}
	m := l.found.Mixed
	m.Rest, m.Writes.Retries = rest.Rows, m.Writes.Retries.Add(rest.Retries)
	return err
}
