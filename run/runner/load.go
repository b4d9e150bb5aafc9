package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/limit"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/session"
)

// load loads, settles, counts and stores.
func (x *loadStage) load(ctx context.Context, on *turn) error {
	t, c, planned, mark, out := on.db, on.cell, on.planned, on.mark, on.out
	f, err := x.feed(ctx, t, planned)
	if err != nil {
		return err
	}
	defer f.close()
	if x.mixes(planned) {
		f.load, f.rows = x.loadBefore, x.rowsBefore()
	}
	mark.RowsExpected = f.rows
	if x.mixes(planned) {
		mark.RowsExpected = x.expected.Survey.Rows
	}
	begin := time.Now()
	if err := x.force.Prepare(ctx, session.Of(t), f.schema, mark); err != nil {
		return fmt.Errorf("before the load: %w", err)
	}
	prepared := time.Since(begin)
	if out.Description, err = t.Describe(ctx); err != nil { // some settings are made with the tables
		return fmt.Errorf("reading version and settings: %w", err)
	}
	before, acked := footprint(ctx, t), int64(-1)

	task := x.Display.Start("load "+out.Name+ofRepeats(c.repeat, x.plan.loads()), "rows", max(f.rows, 0))
	section, err := x.operations.section(oplog.Cell{Kind: oplog.Load, Target: out.Name, Repeat: c.repeat, Workers: x.plan.settings.load.Workers})
	if err != nil {
		return err
	}
	config := x.plan.settings.load
	config.Log, config.Owner = section, x.owner
	config.Acked = func(ctx context.Context) {
		acked = footprint(ctx, t)
		x.phaseEnds(ctx)
	}
	var load *result.Load
	where, err := x.measure(ctx, planned.caps.Embedded, func() (err error) {
		load, err = f.load(ctx, config, t, func(rows int) { task.Add(int64(rows)) })
		return err
	})
	load.Prepare, load.Cell, load.DiskBefore, load.DiskAcked = prepared.Seconds(), where, before, acked
	if ceiling := x.run.Calibration; ceiling != nil && load.Sent > 0 {
		load.ClientBound = boundBy(&where, float64(load.Rows)/load.Sent, ceiling.RowsPerSecond, 0)
	}
	out.RepeatOf(c.repeat).Load = load
	if x.file != nil {
		x.conclude(f, load, err)
		if mark.RowsExpected < 0 && err == nil {
			mark.RowsExpected = f.read()
		}
	}

	mixes := err == nil && x.mixes(planned)
	if mixes {
		task.Done("")
		err = x.mix(ctx, t, planned, c.repeat, load)
	}

	mark.RowsAcked = load.AllRows()
	if r := load.AllRetries(); r != nil && !planned.caps.Dedupes {
		mark.SentTwice = r.SentTwice
	}
	mark.Complete = err == nil && mark.RowsAcked == mark.RowsExpected
	if !planned.caps.Discards {
		// Of an interrupted load too, a later command must know how far it came.
		markCtx, release := limit.Outlive(ctx)
		if markErr := session.Of(t).SetMark(markCtx, mark); err == nil {
			err = markErr
		}
		release()
	}
	save := func(err error) error {
		if err != nil && (load.Withheld != "" || ctx.Err() != nil) {
			// It was cut off, maybe after its first part had settled: who
			// resumes the run begins it anew.
			load.Withheld, load.Settled = cmp.Or(load.Withheld, reason(ctx, err)), 0
		}
		return both(err, x.keepLoad(context.WithoutCancel(ctx), out, c.repeat))
	}
	if err != nil {
		of := ""
		if mark.RowsExpected >= 0 {
			of = fmt.Sprintf(" of %d", mark.RowsExpected)
		}
		err = fmt.Errorf("loading stopped after %d%s rows: %w", mark.RowsAcked, of, err)
		load.Withheld = reason(ctx, err)
		if !mixes {
			task.Fail(load.Withheld)
		}
		return save(err)
	}
	if !mixes {
		task.Done("")
	}
	if mark.RowsAcked != mark.RowsExpected {
		load.Withheld = fmt.Sprintf("%d rows were accepted, %d expected", mark.RowsAcked, mark.RowsExpected)
	}
	switch {
	case planned.caps.Discards:
		load.Unverified = discarded
	case x.expected == nil:
		load.Unverified = uncounted
	default:
		if err = x.count(ctx, t, planned, load, sentBy(mark, load)); err != nil {
			load.Withheld = "not counted: " + reason(ctx, err) // what nobody counted is no figure
		}
	}
	if err == nil {
		err = x.afterLoad(ctx, t, out.Name, load)
	}
	if err == nil {
		if load.DiskBytes, err = t.Footprint(ctx); err != nil {
			load.DiskBytes, err = -1, fmt.Errorf("measuring the size on disk: %w", err)
		}
		load.DiskLeftOut, load.Upkeep = driver.LeftOut(t), upkeep(ctx, t)
	}
	return save(err)
}

// sentBy is what is known of how rows were sent, right after they were. Rows of
// a protocol that does not acknowledge may be missing, but are not lost.
func sentBy(mark session.Mark, load *result.Load) verify.Sent {
	return verify.Sent{Acknowledged: mark.Complete && load.Acked > 0, Twice: mark.SentTwice}
}

// footprint is the size on disk; -1: not known.
func footprint(ctx context.Context, t driver.DB) int64 {
	n, err := t.Footprint(ctx)
	if err != nil {
		return -1
	}
	return n
}

// upkeep is what a system did by itself to its tables; empty: not known, which
// fails nothing.
func upkeep(ctx context.Context, t driver.DB) string {
	kept, ok := driver.As[driver.Kept](t)
	if !ok {
		return ""
	}
	own, err := session.Of(t).Own(ctx)
	if err != nil {
		return ""
	}
	text, err := kept.Upkeep(ctx, own)
	if err != nil {
		return ""
	}
	return text
}

// afterLoad does the steps that the experiment wants and the target has.
func (x *loadStage) afterLoad(ctx context.Context, t driver.DB, name string, load *result.Load) error {
	can, ok := driver.As[driver.AfterLoader](t)
	if !ok {
		return nil
	}
	steps := can.AfterLoad()
	for _, wanted := range x.plan.experiment.Load.After {
		at := slices.IndexFunc(steps, func(s driver.Step) bool { return s.Name == wanted })
		if at < 0 {
			continue
		}
		task := x.Display.Start(fmt.Sprintf("%s %s", wanted, name), "", 0)
		begin := time.Now()
		var settled time.Time
		noise, err := x.noiseOf(ctx, func() error {
			if err := steps[at].Do(ctx); err != nil {
				return err
			}
			var err error
			settled, err = driver.Settled(ctx, t)
			return err
		})
		if err != nil {
			fail(ctx, task, err)
			return fmt.Errorf("after the load, %s: %w", wanted, err)
		}
		task.Done("")
		load.Steps = append(load.Steps, result.Step{Name: wanted, Seconds: settled.Sub(begin).Seconds(), DiskBytes: footprint(ctx, t), Noise: noise})
	}
	return nil
}

// ofRepeats says which repeat it is, where there are several.
func ofRepeats(n, repeats int) string {
	if repeats < 2 {
		return ""
	}
	return fmt.Sprintf(", repeat %d of %d", n, repeats)
}

// discarded is what is said of a load into a target that keeps nothing.
const discarded = "not verified: null target"

// uncounted is what is said of lines that nobody parsed, nor could make again.
const uncounted = "not verified: the lines were sent as they are, and the dataset is unknown"

// count compares the census with the dataset; a difference withholds the load.
// Rows that are there twice because they were sent twice are no difference.
func (x *loadStage) count(ctx context.Context, t driver.DB, planned *plannedTarget, load *result.Load, sent verify.Sent) error {
	var err error
	if load.Census, err = verify.Census(ctx, t, x.surveyFor(planned), sent); err != nil {
		return err
	}
	for _, c := range load.Census {
		if c.Problem != "" && load.Withheld == "" {
			load.Withheld = c.Problem
		}
	}
	return nil
}
