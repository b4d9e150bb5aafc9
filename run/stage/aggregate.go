package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/session"
)

// aggregateMissing returns why a target has no aggregate to answer a type from; nil: it has one, or
// needs none.
func aggregateMissing(out *result.Target, q *plan.TypeQueries) error {
	if q.Aggregate == nil {
		return nil
	}
	l := lastLoad(out)
	switch {
	case l == nil || l.Aggregate == nil:
		return fmt.Errorf("%w: no aggregate was made", query.ErrUnsupported)
	case l.Aggregate.Unsupported != "":
		return recordedReason(l.Aggregate.Unsupported)
	}
	return nil
}

// readQueries is the number of queries of a type whose reads are measured, which suffices for an
// interval.
const readQueries = 6

// readVolume returns the amount of data that the target reads for queries that are not measured
// otherwise, so that answers from rows and from the aggregate can be compared by more than their
// times. Nil: its system does not report it.
func (x *Checker) readVolume(ctx context.Context, on *Opened, q *plan.TypeQueries) (*result.Read, error) {
	if on.DB.MeasureReads == nil {
		return nil, nil
	}
	render := on.Planned.Renderer(ctx, on.DB, q)
	var rows, bytes []float64
	queries := slices.Concat(q.Early, q.Spare)
	for i := range queries[:min(readQueries, len(queries))] {
		request, err := render(&queries[i], x.Subject.Dataset.Schema())
		if err != nil {
			return nil, err
		}
		reads, ok, err := on.DB.MeasureReads(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("measuring how much a query reads: %w", err)
		}
		if !ok {
			return nil, nil
		}
		rows, bytes = append(rows, float64(reads.Rows)), append(bytes, float64(reads.Bytes))
	}
	if len(rows) == 0 {
		return nil, nil
	}
	read := &result.Read{Rows: stats.Median(rows), Bytes: stats.Median(bytes)}
	if read.Bytes >= 0 {
		read.EachBytes = bytes
	}
	return read, nil
}

// recordedReason is an error for a recorded reason, which already includes the text of the error
// that it wraps.
type recordedReason string

func (r recordedReason) Error() string { return string(r) }

func (recordedReason) Is(other error) bool { return other == query.ErrUnsupported }

// aggregate creates the aggregate of the loaded and counted rows, if the experiment requests one,
// and records the cost.
func (l *load) aggregate(ctx context.Context) error {
	wanted := l.stage.Plan.Aggregate
	if wanted == nil || l.found.Withheld != "" || l.on.Planned.Caps.Discards {
		return nil
	}
	a := &result.Aggregate{
		Name: wanted.Name(), Table: wanted.Table, Bucket: wanted.Width(), Fields: wanted.Fields,
		Covered: -1, Expected: l.rowsOf(wanted.Table), DiskBytes: -1,
	}
	for _, word := range wanted.Aggregates {
		a.Aggregates = append(a.Aggregates, experiment.AggregateWord(word))
	}
	l.found.Aggregate = a
	if l.on.DB.Materialize == nil || l.on.Planned.Driver.RenderFrom == nil {
		a.Unsupported = fmt.Sprintf("%v: tsmark makes no continuous aggregates of %s", query.ErrUnsupported, l.on.Planned.Driver.Name)
		return nil
	}
	task := l.stage.Record.Display.Start("aggregate "+a.Name+" on "+l.on.out.Name, "", 0)
	err := l.build(ctx, a)
	if err == nil && a.Unsupported == "" && l.stage.Plan.Experiment.Materialize.WhileLoading {
		err = l.keepUp(ctx, a)
	}
	switch {
	case err != nil:
		record.Fail(ctx, task, err)
	case a.Unsupported != "":
		task.Finish("n/a: " + a.Unsupported)
	default:
		task.Finish(fmt.Sprintf("made of %d rows in %.3g s", a.Covered, a.Seconds))
	}
	return err
}

// rowsOf returns the number of rows that a table should hold.
func (l *load) rowsOf(table string) int64 {
	tables := l.stage.Subject.SurveyOf(l.on.Planned).Tables
	return tables[slices.IndexFunc(tables, func(c oracle.Census) bool { return c.Table.Name == table })].Rows
}

// extend creates the aggregate, which belongs to the dataset from then on.
func (l *load) extend(ctx context.Context, keep bool) error {
	schema, wanted := l.stage.Subject.Dataset.Schema(), &l.stage.Plan.Aggregate.Materialized
	planned, err := l.on.DB.PlanAggregate(schema, wanted)
	if err != nil {
		return err
	}
	return session.New(l.on.DB).Extend(ctx, planned, func(ctx context.Context) error { return l.on.DB.Materialize(ctx, schema, wanted, keep) })
}

// build creates the aggregate of the existing rows.
func (l *load) build(ctx context.Context, a *result.Aggregate) (err error) {
	begin := time.Now()
	var settled time.Time
	l.stage.Watch.BeginNoise(ctx)
	err = l.extend(ctx, false)
	if err == nil {
		settled, err = driver.AwaitSettled(ctx, l.on.DB)
	}
	a.Noise = l.stage.Watch.EndNoise(ctx)
	if errors.Is(err, query.ErrUnsupported) {
		a.Unsupported = err.Error()
		return nil
	}
	if err != nil {
		return fmt.Errorf("the aggregate: %w", err)
	}
	a.Seconds = settled.Sub(begin).Seconds()
	a.Covered, a.DiskBytes, err = l.measureAggregate(ctx)
	return err
}

// measureAggregate returns the number of rows that the aggregate includes, and its size. The target
// flushes its memory first, as it did after the load: queries then read rows and aggregate from files.
func (l *load) measureAggregate(ctx context.Context) (covered, bytes int64, err error) {
	covered, bytes = -1, -1
	wanted := &l.stage.Plan.Aggregate.Materialized
	if covered, err = l.on.DB.CountCovered(ctx, wanted); err != nil {
		return covered, bytes, err
	}
	if _, err := l.flush(ctx); err != nil {
		return covered, bytes, err
	}
	bytes, err = l.on.DB.AggregateFootprint(ctx, wanted)
	return covered, bytes, err
}

// keepUp loads once more, from scratch, while the target maintains the aggregate. The result is
// counted as after every load.
func (l *load) keepUp(ctx context.Context, a *result.Aggregate) error {
	f, err := l.stage.Subject.Feed(l.on.DB, l.on.Planned)
	if err != nil {
		return err
	}
	defer f.Close()
	k := &result.KeptLoad{Fresh: -1, Covered: -1, DiskBytes: -1}
	again := &load{stage: l.stage, on: l.on, feed: f, mark: l.on.mark}
	again.mark.RowsExpected = f.Rows
	if err := l.stage.Force.Prepare(ctx, session.New(l.on.DB), f.Schema, again.mark); err != nil {
		return fmt.Errorf("before the load with an aggregate: %w", err)
	}
	err = again.extend(ctx, true)
	if errors.Is(err, query.ErrUnsupported) {
		k.Unsupported = err.Error()
	} else if err != nil {
		return fmt.Errorf("the aggregate: %w", err)
	}
	fresh := make(chan freshness, 1)
	config := l.stage.Plan.LoadConfig(l.on.Planned)
	config.Owner, config.InOrder = f.Owner, l.on.Planned.Caps.InOrder
	config.Acked = func(ctx context.Context) {
		if k.Unsupported == "" {
			go func() { fresh <- watchFresh(ctx, l.on.DB, &l.stage.Plan.Aggregate.Materialized, a.Expected) }()
		}
	}
	measurement := l.stage.Watch.Begin(ctx, l.on.Planned.Caps.Embedded)
	again.found, err = engine.Load(ctx, config, f.Dataset, l.on.DB, func(int) {})
	k.Cell = measurement.End(ctx)
	if err = again.leaveMark(ctx, err); err != nil {
		return fmt.Errorf("loading with an aggregate stopped after %s: %w", rowsOf(&again.mark), err)
	}
	if k.Unsupported != "" { // the aggregate is created from the loaded rows after all, for the queries
		a.Kept = &result.KeptLoad{Unsupported: k.Unsupported, Fresh: -1, Covered: -1, DiskBytes: -1}
		return l.extend(ctx, false)
	}
	a.Kept = k
	k.Rows, k.Sent, k.Acked, k.Settled = again.found.Rows, again.found.Sent, again.found.Acked, again.found.Settled
	seen := <-fresh
	if seen.err != nil {
		return seen.err
	}
	k.Fresh = seen.after
	if err := again.count(ctx); err != nil {
		return err
	}
	k.Withheld, l.found.Withheld = again.found.Withheld, again.found.Withheld // the queries run on the data of the second load
	l.mark = again.mark
	k.Covered, k.DiskBytes, err = l.measureAggregate(ctx)
	return err
}

// freshness is the number of seconds until an aggregate included every row; -1: it never did.
type freshness struct {
	after float64
	err   error
}

const (
	freshWait = 2 * time.Minute       // an aggregate without every row by then is called stale
	freshLook = 20 * time.Millisecond // between two checks
)

// watchFresh polls until the aggregate includes the given number of rows.
func watchFresh(ctx context.Context, db driver.DB, m *query.Materialized, rows int64) freshness {
	begin := time.Now()
	for {
		sent := time.Now()
		covered, err := db.CountCovered(ctx, m)
		switch {
		case err != nil:
			return freshness{err: err}
		case covered >= rows:
			return freshness{after: time.Since(begin).Seconds()}
		case time.Since(begin) > freshWait:
			return freshness{after: -1}
		}
		select { // slow checks run less often, so that checking does not keep the target busy
		case <-ctx.Done():
			return freshness{err: ctx.Err()}
		case <-time.After(max(freshLook, 4*time.Since(sent))):
		}
	}
}
