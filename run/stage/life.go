package stage

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/run/life"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/session"
)

// live lets a target live after its load, which had this error, and compares its contents at the end.
func (l *load) live(ctx context.Context, err error) error {
	if err = l.leaveMark(ctx, err); err != nil {
		return l.cutOff(ctx, err)
	}
	if err = l.afterLoad(ctx); err == nil {
		err = l.measureDisk(ctx)
	}
	var config life.Config
	if err == nil {
		config, err = l.lifeConfig()
	}
	if err != nil {
		l.withhold(record.Reason(ctx, err))
		return err
	}
	task := l.stage.Record.Display.Start("life of "+l.on.out.Name, "", 0)
	measurement := l.stage.Watch.Begin(ctx, l.on.Planned.Caps.Embedded)
	outcome, err := life.Run(ctx, config)
	l.found.Life = outcome.Life
	l.found.Life.Base.Writes.Cell = measurement.End(ctx)
	switch {
	case err != nil:
	case outcome.Contents != nil:
		err = l.compareContents(ctx, outcome.Contents)
	default:
		l.found.Unverified = "rows not counted: " + l.found.Life.Withheld
	}
	switch problem := l.found.Life.Problem(); {
	case err != nil:
		record.Fail(ctx, task, err)
		l.found.Life.Withheld = record.Reason(ctx, err)
		err = fmt.Errorf("the life: %w", err)
		l.withhold(record.Reason(ctx, err)) // uncounted rows have no figures
		return err
	case problem != "":
		task.Fail(problem)
	default:
		task.Finish("answers and contents as expected")
	}
	return nil
}

func (l *load) lifeConfig() (c life.Config, err error) {
	s, planned := l.stage.Subject, l.on.Planned
	backfill, before := s.LifeRows()
	base := l.stage.Plan.LifeConfig(planned)
	written := oplog.Cell{
		Kind: oplog.Load, Target: l.on.out.Name, Part: oplog.Mixed, Repeat: l.on.job.Repeat, Setting: l.setting, Workers: base.Workers,
	}
	section, queries := l.stage.Record.Log.Section, ""
	written.Schedule, queries = base.Schedules()
	if base.Log, err = section(written); err != nil {
		return c, err
	}
	base.Owner, base.Start = l.feed.Owner, s.Record.Spec.Start
	base.Loaded, base.Lateness = before, s.Expected.Survey.Lateness
	c = life.Config{
		Base: base, BatchSize: planned.BatchSize, Backfill: backfill, Events: l.stage.Plan.Experiment.Life.Events, Dataset: s.Dataset,
		DB: l.on.DB, Caps: planned.Caps, Render: planned.Driver.Renderer(planned.Options), Semantics: planned.Driver.Semantics,
		WrittenBytes: func() int64 { return l.stage.Watch.WrittenBytes(planned.Caps.Embedded) },
		Restart:      l.restart(), NoRestart: "tsmark did not start its server", Extend: session.New(l.on.DB).Extend,
		Drawing: oracle.Drawing{Seed: s.Seed, Rows: l.stage.Plan.Catalog.SampleRows},
		Announce: func(what string) func(string, bool) {
			task := l.stage.Record.Display.Start(what+" of "+l.on.out.Name, "", 0)
			return func(how string, failed bool) {
				if failed {
					task.Fail(how)
				} else {
					task.Finish(how)
				}
			}
		},
	}
	if planned.Caps.Embedded {
		c.NoRestart = "it runs in tsmark's process and has no server"
	}
	c.EventLog = func(number int) (*oplog.Section, error) {
		of := written
		of.Part, of.Workers, of.Schedule = oplog.Event(number), 1, ""
		return section(of)
	}
	c.Types, err = s.MixedQueries(written, base.Queriers, queries, section)
	return c, err
}

// restartPatience is the time in which a server has to stop before it is killed.
const restartPatience = 10 * time.Second

// restart returns the function that restarts the target's server, and says how it ended; nil: tsmark did
// not start it.
func (l *load) restart() func(context.Context) (string, error) {
	own := l.stage.Servers.ServerOf(l.on.Planned)
	if own == nil {
		return nil
	}
	return func(ctx context.Context) (how string, err error) {
		patient, cancel := context.WithTimeout(ctx, restartPatience)
		defer cancel()
		if err := own.Stop(patient); err != nil {
			return "which did not end", fmt.Errorf("stopping the server: %w", err)
		}
		how = "which ended by itself"
		if patient.Err() != nil {
			how = fmt.Sprintf("which was killed, as it had not ended within %s", restartPatience)
		}
		return how, own.Wake(ctx)
	}
}

// compareContents compares the contents of the target with the rows that the life left.
func (l *load) compareContents(ctx context.Context, expected *oracle.Survey) error {
	if _, err := driver.AwaitSettled(ctx, l.on.DB); err != nil {
		return err
	}
	task := l.stage.Record.Display.Start("count "+l.on.out.Name, "tables", int64(len(expected.Tables)))
	found, err := verify.Census(ctx, l.on.DB, expected, verify.Sent{Acknowledged: l.found.Life.Base.Writes.Acked > 0, Twice: l.sentTwice()}, func() { task.Add(1) })
	if err == nil {
		err = verify.Rows(ctx, l.stage.Plan.VerifyConfig(l.on.Planned), l.on.DB, l.on.Planned.Driver.Renderer(l.on.Planned.Options), expected, l.on.Planned.Caps.Digits, found)
	}
	if err != nil {
		record.Fail(ctx, task, err)
		return err
	}
	l.found.Life.Census = found
	if problem := problemOf(found); problem != "" {
		task.Fail(problem)
		l.found.Life.Withheld = "after the life, " + problem
		l.found.Withheld = cmp.Or(l.found.Withheld, l.found.Life.Withheld) // the load's rows are among these
	} else {
		task.Finish("contents as expected")
	}
	return nil
}

// sentTwice is the number of rows that may be stored twice, because their batches failed.
func (l *load) sentTwice() int64 {
	if l.on.Planned.Caps.Dedupes {
		return 0
	}
	all := l.found.Retries.Add(l.found.Life.Base.Writes.Retries)
	for i := range l.found.Life.Events {
		all = all.Add(l.found.Life.Events[i].Retries)
	}
	if all == nil {
		return 0
	}
	return all.SentTwice
}
