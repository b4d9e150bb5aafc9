package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/check"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/shared"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/run/watch"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// Loader loads a target, settles it and counts its contents, and in a mixed phase runs queries
// during the load.
type Loader struct {
	Plan    *plan.Plan
	Subject *subject.Subject
	Watch   *watch.Watch
	Record  *record.Record
	Force   session.Force
	Servers launch.Servers
	Team    *shared.Team // nil: no agents
}

// load is a load of a target in progress.
type load struct {
	stage   *Loader
	on      *Opened
	feed    *subject.Feed
	mark    session.Mark // the mark that it leaves
	log     *oplog.Section
	setting string // of its cells in the operation log
	task    record.Task
	found   *result.Load    // nil: nothing measured yet
	steps   []workload.Step // if columns appear during the load; nil: all are created first
}

// Load loads a target and keeps the result. It repeats a load that other processes disturbed, or a
// step after it, if the host must be quiet.
func (x *Loader) Load(ctx context.Context, on *Opened) error {
	if err := x.quietly(ctx, on.out, on.job.Repeat, func(try int) (*result.Load, error) { return x.loadOnce(ctx, on, try) }); err != nil {
		return err
	}
	return x.withoutQueries(ctx, on.out)
}

// loadOnce loads, settles and counts. With every error it returns the measurements so far; nil:
// none.
func (x *Loader) loadOnce(ctx context.Context, on *Opened, try int) (*result.Load, error) {
	f, err := x.Subject.Feed(on.DB, on.Planned)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if x.Team != nil {
		if err := shared.CheckJoinable(on.DB, on.Planned); err != nil {
			return nil, err
		}
	}
	l := &load{stage: x, on: on, feed: f, mark: on.mark, setting: trySetting(try)}
	if grows, err := l.grow(); err != nil || !grows {
		return l.found, err
	}
	prepared, err := l.prepare(ctx)
	if err != nil {
		return nil, err
	}
	err = l.send(ctx)
	l.found.Prepare = prepared.Seconds()
	if x.Subject.Lives() {
		return l.found, l.live(ctx, err)
	}
	if err == nil && x.Subject.Mixes() {
		err = l.mix(ctx)
	}
	if err = l.leaveMark(ctx, err); l.found.UnsupportedReason() != "" {
		l.task.Finish("n/a: " + l.found.UnsupportedReason())
		return l.found, nil
	}
	if err != nil {
		return l.found, l.cutOff(ctx, err)
	}
	// Measurements come first; long work off the clock comes last.
	if err = l.afterLoad(ctx); err == nil {
		err = l.measureDisk(ctx)
	}
	if err == nil {
		err = l.learn(ctx)
	}
	if err == nil {
		err = l.count(ctx)
	}
	if err == nil {
		err = l.aggregate(ctx)
	}
	if err != nil {
		l.withhold(record.Reason(ctx, err)) // uncounted rows have no figures
	}
	return l.found, err
}

// prepare makes room, creates tables, and returns the time needed.
func (l *load) prepare(ctx context.Context) (time.Duration, error) {
	l.mark.RowsExpected = l.feed.Rows
	if l.stage.Subject.Mixes() || l.stage.Subject.Lives() { // which never has all rows, so that no other command takes it for complete
		l.mark.RowsExpected = l.stage.Subject.Expected.Survey.Rows
	}
	begin := time.Now()
	if err := l.stage.Force.Prepare(ctx, l.session(), l.feed.Schema, l.mark); err != nil {
		return 0, fmt.Errorf("before the load: %w", err)
	}
	prepared := time.Since(begin)
	var err error
	if l.on.out.Description, err = check.Describe(ctx, l.on.DB); err != nil { // some settings are made with the tables
		return 0, fmt.Errorf("reading version and settings: %w", err)
	}
	l.log, err = l.stage.Record.Log.Section(oplog.Cell{Kind: oplog.Load, Target: l.on.out.Name, Repeat: l.on.job.Repeat, Setting: l.setting, Workers: l.on.Planned.Workers})
	return prepared, err
}

// send sends the rows, or those before the mixed phase, and waits until they have settled.
func (l *load) send(ctx context.Context) error {
	before := footprint(ctx, l.on.DB)
	total := l.feed.Rows
	if total < 0 {
		total = l.stage.Subject.Rows
	}
	l.task = l.stage.Record.Display.Start("load "+l.on.out.Name+repeatSuffix(l.on.job.Repeat, l.stage.Plan.LoadRepeats()), "rows", total)
	config := l.stage.Plan.LoadConfig(l.on.Planned)
	config.Log, config.Owner, config.InOrder, config.Visible = l.log, l.feed.Owner, l.on.Planned.Caps.InOrder, l.visibility()
	config.Acked = l.stage.Watch.NextNoise
	progress := func(rows int) { l.task.Add(int64(rows)) }
	measurement := l.stage.Watch.Begin(ctx, l.on.Planned.Caps.Embedded || l.stage.Team != nil)
	var err error
	switch {
	case l.stage.Team != nil:
		l.found, err = l.stage.Team.Load(ctx, l.on.Planned, l.on.DB, config, l.feed, l.task)
	case l.feed.Lines != nil:
		l.found, err = engine.LoadLines(ctx, config, l.feed.Lines, l.on.DB, progress)
	case l.steps != nil:
		err = l.sendSteps(ctx, config, progress)
	default:
		l.found, err = engine.Load(ctx, config, l.feed.Dataset, l.on.DB, progress)
	}
	where := measurement.End(ctx)
	where.Parts = l.found.Parts
	l.found.Cell, l.found.DiskBefore = where, before
	if ceiling := l.stage.Record.Doc.Calibration; ceiling != nil && l.found.Sent > 0 {
		l.found.ClientBound = watch.ClientBound(&where, float64(l.found.Rows)/l.found.Sent, ceiling.RowsPerSecond, 0)
	}
	l.found.ClientBound = cmp.Or(l.found.ClientBound, watch.ClientBoundByPause(l.found))
	if l.stage.Subject.File != nil {
		l.stage.Subject.Conclude(l.feed, l.found, err)
	}
	// learn determines the expected contents of a file of a known dataset.
	if l.mark.RowsExpected < 0 && err == nil && (l.stage.Subject.File == nil || l.on.Planned.Caps.Discards) {
		l.mark.RowsExpected = l.feed.RowsRead()
	}
	if err == nil {
		l.task.Finish("")
	}
	return err
}

// visibility defines how to find out that rows are visible. Their number is unknown if the target
// keeps one row per series and time, and the dataset may have several.
func (l *load) visibility() engine.Visibility {
	if l.on.Planned.Caps.Discards || l.on.Planned.Caps.Language == "" {
		return engine.Visibility{}
	}
	repeats := l.stage.Subject.Viewed[plan.LatestRows].Dataset != nil || len(l.feed.Schema.Shared) > 0
	return engine.Visibility{
		Patience: l.stage.Plan.Catalog.RowPatience,
		Render:   l.on.Planned.Driver.Renderer(l.on.Planned.Options), Schema: l.feed.Schema,
		Count: !(l.on.Planned.Caps.Dedupes && repeats),
	}
}

// leaveMark records the progress of the load for later commands, even if an error ended it, and
// returns that error.
func (l *load) leaveMark(ctx context.Context, err error) error {
	l.mark.RowsAcked = l.found.AllRows()
	if r := l.found.AllRetries(); r != nil && !l.on.Planned.Caps.Dedupes {
		l.mark.SentTwice = r.SentTwice
	}
	l.mark.Complete = err == nil && l.mark.RowsAcked == l.mark.RowsExpected
	if l.on.Planned.Caps.Discards {
		return err
	}
	markCtx, release := limit.Outlive(ctx)
	defer release()
	return cmp.Or(err, session.New(l.on.DB).SetMark(markCtx, l.mark))
}

// learn determines the expected contents of the target, which the first load did not wait for, and
// corrects the mark if a file had other rows.
func (l *load) learn(ctx context.Context) error {
	err := l.stage.Subject.Learn(ctx, l.on.DB, l.on.Planned)
	if err != nil || l.stage.Subject.Expected == nil || l.mark.RowsExpected == l.stage.Subject.Expected.Survey.Rows {
		return err
	}
	l.mark.RowsExpected = l.stage.Subject.Expected.Survey.Rows
	return l.leaveMark(ctx, nil)
}

// cutOff withholds a load that an error ended, and returns the error as an error of the load.
func (l *load) cutOff(ctx context.Context, err error) error {
	err = fmt.Errorf("loading stopped after %s: %w", rowsOf(&l.mark), err)
	l.withhold(record.Reason(ctx, err))
	record.Fail(ctx, l.task, err)
	return err
}

// withhold withholds a load, possibly after its first part had settled: a resumed run starts it
// from scratch.
func (l *load) withhold(why string) {
	l.found.Withheld, l.found.Settled = cmp.Or(l.found.Withheld, why), 0
}

// count compares the census with the dataset; a difference withholds the load. Rows stored twice
// because they were sent twice do not count as a difference.
func (l *load) count(ctx context.Context) (err error) {
	if l.mark.RowsAcked != l.mark.RowsExpected {
		l.found.Withheld = fmt.Sprintf("%d rows were accepted, %d expected", l.mark.RowsAcked, l.mark.RowsExpected)
	}
	if l.on.Planned.Caps.Discards {
		l.found.Unverified = discarded
		return nil
	}
	// Rows of a protocol without acknowledgements may be missing, but not lost.
	sent := verify.Sent{Acknowledged: l.mark.Complete && l.found.Acked > 0, Twice: l.mark.SentTwice}
	if err = l.countUntilComplete(ctx, sent); err != nil {
		l.found.Withheld = "not counted: " + record.Reason(ctx, err)
		return err
	}
	l.found.Withheld = cmp.Or(l.found.Withheld, problemOf(l.found.Census))
	return nil
}

// repeatRows is the number of rows that are read back after a target's second and later loads: the first load
// shows whether the writer puts values into the right rows, and a server answers one lookup after the other.
const repeatRows = oracle.SampleRows / 10

// recount is the time that missing rows may take to appear between two censuses.
const recount = 500 * time.Millisecond

// countUntilComplete takes a census, and repeats it as long as rows are missing and more of them
// appear: the load had not settled, and the time until they appear is part of the load.
func (l *load) countUntilComplete(ctx context.Context, sent verify.Sent) error {
	rows := 0
	if l.on.job.Repeat > 1 {
		rows = repeatRows
	}
	begin, before := time.Now(), int64(-1)
	for {
		taken := time.Now()
		census, err := census(ctx, l.stage.Subject, l.on, sent, l.found.Census, rows)
		if err != nil {
			l.found.Census = census
			return err
		}
		l.found.Census = census
		missing := l.found.LostRows()
		if missing == 0 && before > 0 && problemOf(census) == "" {
			l.found.Settle(taken.Sub(begin).Seconds())
		}
		if missing == 0 || before >= 0 && missing >= before {
			return nil
		}
		before = missing
		select {
		case <-time.After(cmp.Or(l.stage.Plan.Catalog.RowPatience, recount)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// discarded is the text for a load into a target that discards rows.
const discarded = "not verified: null target"

// afterLoad runs the steps that the experiment requests and the target has.
func (l *load) afterLoad(ctx context.Context) error {
	steps := l.on.DB.Steps
	for _, wanted := range l.stage.Plan.Experiment.Load.After {
		at := slices.IndexFunc(steps, func(s driver.Step) bool { return s.Name == wanted })
		if at < 0 {
			continue
		}
		if len(l.found.Steps) == 0 {
			l.found.DiskSettled = l.bytesWritten(ctx)
		}
		task := l.stage.Record.Display.Start(wanted+" "+l.on.out.Name, "", 0)
		begin := time.Now()
		var settled time.Time
		l.stage.Watch.BeginNoise(ctx)
		err := steps[at].Do(ctx)
		if err == nil {
			settled, err = driver.AwaitSettled(ctx, l.on.DB)
		}
		noise := l.stage.Watch.EndNoise(ctx)
		if err != nil {
			record.Fail(ctx, task, err)
			return fmt.Errorf("after the load, %s: %w", wanted, err)
		}
		task.Finish("")
		l.found.Steps = append(l.found.Steps, result.Step{Name: wanted, Seconds: settled.Sub(begin).Seconds(), DiskBytes: l.bytesWritten(ctx), Noise: noise})
	}
	return nil
}

// measureDisk measures the final size of the data.
func (l *load) measureDisk(ctx context.Context) error {
	size, err := l.sizeWritten(ctx)
	if err != nil {
		size.Bytes, err = -1, fmt.Errorf("measuring the size on disk: %w", err)
	}
	l.found.DiskBytes, l.found.DiskExcluded, l.found.DiskPending = size.Bytes, size.Without, size.Pending
	l.found.DiskParts = size.Parts
	l.found.Upkeep = upkeep(ctx, l.on.DB)
	return err
}

// flush makes the target flush its memory, off the clock. The flushed data may be merged, so the target
// settles again. It returns why the target cannot flush; nil: it has, or has nothing to flush.
func (l *load) flush(ctx context.Context) (refusal, err error) {
	if l.on.DB.FlushMemory == nil {
		return nil, nil
	}
	if refusal = l.on.DB.FlushMemory(ctx); refusal == nil {
		_, err = driver.AwaitSettled(ctx, l.on.DB)
	}
	return refusal, err
}

// sizeWritten returns the size on disk after the target has flushed its memory.
func (l *load) sizeWritten(ctx context.Context) (driver.Footprint, error) {
	refusal, err := l.flush(ctx)
	if err != nil {
		return driver.Footprint{Bytes: -1}, err
	}
	size, err := l.on.DB.Footprint(ctx)
	if size.Pending != "" && refusal != nil {
		size.Pending += "; " + refusal.Error()
	}
	return size, err
}

// bytesWritten returns the size on disk once everything was written; -1: unknown, or incomplete.
func (l *load) bytesWritten(ctx context.Context) int64 {
	size, err := l.sizeWritten(ctx)
	if err != nil || size.Pending != "" {
		return -1
	}
	return size.Bytes
}

// footprint returns the size on disk; -1: unknown.
func footprint(ctx context.Context, t driver.DB) int64 {
	size, err := t.Footprint(ctx)
	if err != nil {
		return -1
	}
	return size.Bytes
}

// upkeep describes the system's background maintenance of its tables; empty: unknown, which is not
// an error.
func upkeep(ctx context.Context, t driver.DB) string {
	if t.Upkeep == nil {
		return ""
	}
	own, err := session.New(t).OwnObjects(ctx)
	if err != nil {
		return ""
	}
	text, err := t.Upkeep(ctx, own)
	if err != nil {
		return ""
	}
	return text
}

// repeatSuffix names the repeat, if there are several.
func repeatSuffix(n, repeats int) string {
	if repeats < 2 {
		return ""
	}
	return fmt.Sprintf(", repeat %d of %d", n, repeats)
}

// quietly loads, repeats the load if other processes disturbed it, its mixed phase or a step after
// it, and keeps the load that counts.
func (x *Loader) quietly(ctx context.Context, out *result.Target, number int, once func(try int) (*result.Load, error)) error {
	for try := 1; ; try++ {
		load, err := once(try)
		if load == nil {
			return err
		}
		if why := x.Watch.LoadDisturbance(load); err == nil && why != "" {
			if try < watch.QuietTries && (x.Subject.File == nil || x.Plan.Experiment.Load.File != "-") { // standard input cannot be read again
				continue
			}
			// Not settled: a resumed run loads from scratch.
			load.Withheld, load.Settled = record.ErrNotQuiet.Error()+": "+why, 0
			err = watch.TooNoisyError("the load of target "+out.Name, why)
		}
		return record.JoinStoreError(err, record.Outlast(ctx, func(ctx context.Context) error { return x.Record.KeepLoad(ctx, out, number, load) }))
	}
}
