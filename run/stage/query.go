package stage

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/shared"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/run/watch"
)

// Finished reports whether a type is done in a repeat: it was run, or has no figure.
func Finished(t *result.Target, repeat int, queryType string) bool {
	if first := t.RepeatOf(1).Type(queryType); first != nil && first.WithoutFigure() {
		return true
	}
	q := t.RepeatOf(repeat).Type(queryType)
	return q != nil && (q.Executed > 0 || q.WithoutFigure())
}

// Querier measures the queries of a target in a repeat, and keeps a sample of the answers.
type Querier struct {
	Plan    *plan.Plan
	Subject *subject.Subject
	Watch   *watch.Watch
	Record  *record.Record
	Servers launch.Servers
	Team    *shared.Team // nil: no agents
	Slow    map[SlowType]bool

	Observed time.Duration // how long it took to look at plans
}

// Query measures the query types that passed the check. After the first repeat it observes what a query of each
// does.
func (x *Querier) Query(ctx context.Context, on *Opened) error {
	if x.Plan.Experiment.Queries.Cache == experiment.CacheCold {
		if err := x.queryCold(ctx, on); err != nil {
			return err
		}
		return x.observe(ctx, on)
	}
	task := x.Record.Display.Start("query "+on.out.Name+repeatSuffix(on.job.Repeat, x.Plan.Experiment.QueryRepeats()+x.Record.Doc.Budget.FurtherRounds()), "queries", x.toRun(on))
	kept := upkeep(ctx, on.DB)
	for i := range x.Subject.Queries {
		q := &x.Subject.Queries[i]
		if !x.Record.Doc.Budget.Runs(on.job.Repeat, q.Type.Name) || Finished(on.out, on.job.Repeat, q.Type.Name) {
			continue
		}
		measured, answers, err := x.measure(ctx, on, q, task)
		if err != nil {
			err = fmt.Errorf("%s: %w", q.Type.Name, err)
		} else {
			measured.Upkeep = kept
			err = x.keep(ctx, on, q, measured, answers)
		}
		if err != nil {
			record.Fail(ctx, task, err)
			return err
		}
	}
	task.Finish("")
	return x.observe(ctx, on)
}

// toRun returns the number of queries that will be run; 0: another limit applies.
func (x *Querier) toRun(on *Opened) (queries int64) {
	e := x.Plan.Experiment
	if e.TimeBoxOfRepeat(len(x.Subject.Queries)) > 0 || e.Queries.Until != "" || e.Queries.Open() {
		return 0
	}
	for i := range x.Subject.Queries {
		if q := &x.Subject.Queries[i]; !Finished(on.out, on.job.Repeat, q.Type.Name) {
			first, end := q.Blocks.Range(on.job.Repeat)
			queries += int64(end - first)
		}
	}
	return queries
}

// measure measures a type, and repeats it if the experiment requires a quiet host and other
// processes disturbed it. It returns the recorded answers.
func (x *Querier) measure(ctx context.Context, on *Opened, q *plan.TypeQueries, task record.Task) (measured *result.Queries, answers []engine.Answered, err error) {
	queries := x.Subject.OpenSource(on.Planned, q, on.job.Repeat, on.DB)
	defer queries.Close()
	progress := func(n int) { task.Add(int64(n)) }
	for try := 1; ; try++ {
		cfg, err := x.config(ctx, on, q, try)
		if err != nil {
			return nil, nil, err
		}
		measurement := x.Watch.Begin(ctx, on.Planned.Caps.Embedded || x.Team != nil)
		switch s := &x.Plan.Settings; {
		case x.Team != nil:
			measured, err = x.Team.Query(ctx, on.Planned, on.job.Repeat, q, cfg, queries, task)
		case s.Open == nil:
			measured, err = engine.Query(ctx, cfg, on.DB, queries, progress)
		default:
			measured, err = s.QueryOpen(ctx, on.DB, cfg, queries, progress)
		}
		where := measurement.End(ctx)
		if err != nil {
			return nil, nil, err
		}
		where.Stopped, where.Parts = measured.Stopped, measured.Parts
		measured.Cell = where
		switch why := x.Watch.Disturbance(where.Noise); {
		case why == "":
			return measured, cfg.Capture.Answers(), nil
		case try == watch.QuietTries:
			return nil, nil, watch.TooNoisyError("target "+on.out.Name, why)
		}
	}
}

// config returns the configuration of a type in a try.
func (x *Querier) config(ctx context.Context, on *Opened, q *plan.TypeQueries, try int) (cfg engine.QueryConfig, err error) {
	first, end := q.Blocks.Range(on.job.Repeat)
	cfg = x.Plan.Settings.Query
	cfg.Client, cfg.TimeBox = !on.Planned.Caps.Embedded, x.Plan.Experiment.TimeBoxOfRepeat(len(x.Subject.Queries))
	cfg.First, cfg.Least, cfg.Capture = first, q.Blocks.LeastQueries(on.job.Repeat), x.capture(q, on.job.Repeat)
	cfg.Log, err = x.Record.Log.Section(oplog.Cell{
		Kind: oplog.Query, Target: on.out.Name, Type: q.Type.Name, Repeat: on.job.Repeat,
		Workers: x.Plan.Experiment.Queries.Workers, Queries: end - first, First: first, Schedule: x.Plan.Experiment.Queries.Rate,
		Setting: trySetting(try),
	})
	// If a query takes longer than the time box there is no warm-up: it would cost more than the
	// whole measurement, and the connection hardly matters for such a long time.
	if err == nil && (cfg.WarmUp.Time > 0 || !x.Slow[SlowType{on.Planned.Name, q.Type.Name}]) {
		cfg.WarmUp.Queries, err = x.Subject.WarmUps(ctx, on.Planned, q, on.job.Repeat, on.DB)
	}
	return cfg, err
}

// capture returns the capture of the type's sample in a repeat.
func (x *Querier) capture(q *plan.TypeQueries, repeat int) *engine.Capture {
	if !x.Subject.HasExpected(q) && !x.Subject.ComparesSystems(q) {
		return new(engine.Capture) // keeps nothing
	}
	return x.Plan.Capture(q, x.Record.Doc.CheckSeed, repeat, x.Subject.ComparesSystems(q))
}

// keep records the measurement of a type and stores it with the recorded answers.
func (x *Querier) keep(ctx context.Context, on *Opened, q *plan.TypeQueries, measured *result.Queries, taken []engine.Answered) error {
	if err := x.Record.Answers().Put(record.Phase{Target: on.out.Name, QueryType: q.Type.Name, Repeat: on.job.Repeat}, taken); err != nil {
		return fmt.Errorf("%w: keeping answers that are to be compared: %w", record.ErrStore, err)
	}
	if ceiling := x.Record.Doc.Calibration; ceiling != nil {
		measured.ClientBound = watch.ClientBound(&measured.Cell, measured.PerSecond, ceiling.QueriesPerSecond, measured.Service.Median)
	}
	measured.ClientBound = cmp.Or(measured.ClientBound, watch.ClientBoundByOwnTime(measured))
	measured.Type, measured.Help = q.Type.Name, q.Type.Help
	s := &measured.Sample
	measured.Texts, measured.By, measured.NoReference = x.Plan.TextSource(q), x.Subject.VerifiedBy(q), x.Subject.MissingReference(q)
	if s.Repeated = q.Blocks.Repeated; x.Subject.HasExpected(q) || x.Subject.ComparesSystems(q) {
		checked := on.out.RepeatOf(1).Type(q.Type.Name)
		s.Wanted, s.Early = x.Plan.Experiment.Queries.Verify, checked.Sample.Early
		measured.Read = checked.Read
	}
	s.Short = strings.Contains(measured.Stopped, result.StoppedByTime) && int(measured.Executed) < q.Blocks.LeastQueries(on.job.Repeat)
	return x.Record.KeepQueries(ctx, on.out, on.job.Repeat, measured)
}

// trySetting is the setting of a measurement in the operation log, which also contains disturbed
// tries.
func trySetting(try int) string {
	if try == 1 {
		return ""
	}
	return fmt.Sprintf("try %d", try)
}
