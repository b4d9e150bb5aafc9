package runner

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
)

// queryStage measures the queries of a target in a repeat, and keeps a sample of the
// answers.
type queryStage struct {
	plan    *Plan
	subject *subject
	watch   *watch
	record  *record
	servers servers
	team    *team // nil: no agents
	slow    map[slowType]bool
}

// query measures the query types that the check has left.
func (x *queryStage) query(ctx context.Context, on *turn) error {
	task := x.record.display.Start("query "+on.out.Name+ofRepeats(on.job.repeat, x.plan.experiment.QueryRepeats()), "queries", x.toRun(on))
	if err := x.measureTypes(ctx, on, task); err != nil {
		fail(ctx, task, err)
		return err
	}
	task.Finish("")
	return nil
}

// toRun is how many queries will be run; 0: what limits them is another thing than
// their number.
func (x *queryStage) toRun(on *turn) (queries int64) {
	e := x.plan.experiment
	if e.TimeBoxOfRepeat() > 0 || e.Queries.Until != "" || e.Queries.Open() {
		return 0
	}
	for i := range x.subject.queries {
		if q := &x.subject.queries[i]; !finished(on.out, on.job.repeat, q.queryType.Name) {
			first, end := q.blocks.of(on.job.repeat)
			queries += int64(end - first)
		}
	}
	return queries
}

func (x *queryStage) measureTypes(ctx context.Context, on *turn, task Task) error {
	kept := upkeep(ctx, on.db)
	for i := range x.subject.queries {
		q := &x.subject.queries[i]
		if finished(on.out, on.job.repeat, q.queryType.Name) {
			continue
		}
		measured, taken, err := x.measureQuietly(ctx, on, q, task)
		if err != nil {
			return fmt.Errorf("%s: %w", q.queryType.Name, err)
		}
		measured.Upkeep = kept
		if err := x.keep(ctx, on, q, measured, taken); err != nil {
			return err
		}
	}
	return nil
}

// measureQuietly measures a type, and again where the experiment requires a quiet
// host and others disturbed it. It returns the answers that were kept meanwhile.
func (x *queryStage) measureQuietly(ctx context.Context, on *turn, q *typeQueries, task Task) (*result.Queries, []engine.Answered, error) {
	first, end := q.blocks.of(on.job.repeat)
	for try := 1; ; try++ {
		logged := oplog.Cell{
			Kind: oplog.Query, Target: on.out.Name, Type: q.queryType.Name, Repeat: on.job.repeat,
			Workers: x.plan.experiment.Queries.Workers, Queries: end - first, First: first, Schedule: x.plan.experiment.Queries.Rate,
			Setting: settingOfTry(try),
		}
		section, err := x.record.operations.section(logged)
		if err != nil {
			return nil, nil, err
		}
		capture := x.capture(q, on.job.repeat)
		var measured *result.Queries
		where, err := x.watch.measure(ctx, on.planned.caps.Embedded || x.team != nil, func() (err error) {
			measured, err = x.measureType(ctx, on, q, capture, section, task)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		where.Stopped, where.Parts = measured.Stopped, measured.Parts
		measured.Cell = where
		switch why := x.watch.disturbed(where.Noise); {
		case why == "":
			return measured, capture.Answers(), nil
		case try == quietTries:
			return nil, nil, tooNoisy("target "+on.out.Name, why)
		}
	}
}

// capture keeps the answers of the type's sample in a repeat.
func (x *queryStage) capture(q *typeQueries, repeat int) *engine.Capture {
	if !x.subject.expects(q) && !x.subject.agrees(q) {
		return new(engine.Capture) // which keeps nothing
	}
	return x.plan.capture(q, x.record.doc.CheckSeed, repeat, x.subject.agrees(q))
}

// capture keeps the answers of the sample of a type in a repeat that the seed chooses, and
// maybe counts the rows of the others.
func (p *Plan) capture(q *typeQueries, seed string, repeat int, counts bool) *engine.Capture {
	text := q.queryType.Name + " " + strconv.Itoa(repeat)
	return &engine.Capture{Sample: engine.NewSample(seed, text, p.experiment.Queries.Verify), Counts: counts}
}

// keep puts what was measured of a type into the run, and stores it with the
// answers that were kept meanwhile.
func (x *queryStage) keep(ctx context.Context, on *turn, q *typeQueries, measured *result.Queries, taken []engine.Answered) error {
	if err := x.record.taken().put(phase{on.out.Name, q.queryType.Name, on.job.repeat}, taken); err != nil {
		return fmt.Errorf("%w: keeping answers that are to be compared: %w", errStore, err)
	}
	if ceiling := x.record.doc.Calibration; ceiling != nil {
		measured.ClientBound = boundBy(&measured.Cell, measured.PerSecond, ceiling.QueriesPerSecond, measured.Service.Median)
	}
	measured.ClientBound = cmp.Or(measured.ClientBound, boundByOwnTime(measured))
	measured.Type, measured.Help = q.queryType.Name, q.queryType.Help
	s := &measured.Sample
	measured.Texts, measured.By, measured.NoReference = x.plan.texts(q), x.subject.by(q), x.subject.noReference(q)
	if s.Repeated = q.blocks.repeated; x.subject.expects(q) || x.subject.agrees(q) {
		checked := on.out.RepeatOf(1).Type(q.queryType.Name)
		s.Wanted, s.Early = x.plan.experiment.Queries.Verify, checked.Sample.Early
		measured.Read = checked.Read
	}
	s.Short = strings.Contains(measured.Stopped, result.StoppedByTime) && int(measured.Executed) < q.blocks.least(on.job.repeat)
	return x.record.keepQueries(ctx, on.out, on.job.repeat, measured)
}

// measureType measures one type, once it is warm.
func (x *queryStage) measureType(ctx context.Context, on *turn, q *typeQueries, capture *engine.Capture, log *oplog.Section, task Task) (*result.Queries, error) {
	queries := x.subject.rendered(on.planned, q, on.job.repeat, on.db)
	defer queries.close()
	cfg := x.plan.settings.query
	cfg.Client = !on.planned.caps.Embedded
	cfg.First, _ = q.blocks.of(on.job.repeat)
	cfg.Least, cfg.Log, cfg.Capture = q.blocks.least(on.job.repeat), log, capture
	// One query that takes longer than the time box would cost more than all that
	// is measured, and of so long a time the connection is no part.
	if cfg.WarmUp.Time > 0 || !x.slow[slowType{on.planned.name, q.queryType.Name}] {
		var err error
		if cfg.WarmUp.Queries, err = x.subject.warmUps(ctx, on.planned, q, on.job.repeat, on.db); err != nil {
			return nil, err
		}
	}
	if x.team != nil {
		return x.team.query(ctx, on.planned, on.job.repeat, q, cfg, queries, task)
	}
	return x.plan.settings.Measure(ctx, on.db, cfg, queries, func(n int) { task.Add(int64(n)) })
}

// settingOfTry is the setting of a measurement in the operation log, which keeps those that
// were disturbed too.
func settingOfTry(try int) string {
	if try == 1 {
		return ""
	}
	return fmt.Sprintf("try %d", try)
}
