package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// aggregated is the continuous aggregate of a plan, and the query types that are
// answered from it too.
type aggregated struct {
	query.Materialized
	types []string
}

// lookedAt is how many queries of a type tell whether an aggregate answers them, and
// which fields they ask.
const lookedAt = 100

// materialize finds out which aggregate the experiment wants, and which of its query
// types it answers.
func (p *Plan) materialize(w workload.Workload, schema *series.Schema) error {
	e, m := p.experiment, &p.experiment.Materialize
	if !m.On() {
		return nil
	}
	if !p.steps.Load {
		return e.Problem("materialize", "is for commands that load: the aggregate is made of what they load; leave it out, or use tsmark run")
	}
	a := &aggregated{Materialized: query.Materialized{Table: m.Table, Bucket: m.Bucket, Aggregates: m.Chosen(), Fields: m.Fields}}
	var asked map[string][]query.Query
	names := m.Types
	if len(e.Queries.Types) > 0 {
		types, err := p.chosenTypes(w)
		if err != nil {
			return err
		}
		known := make([]string, len(types))
		for i, t := range types {
			known[i] = t.Name
		}
		for i, name := range m.Types {
			if !slices.Contains(known, name) {
				return e.Problem(fmt.Sprintf("materialize.types[%d]", i), "%q is none of queries.types; add it there", name)
			}
		}
		if len(names) == 0 {
			names = known
		}
		if asked, err = p.asked(w, names); err != nil {
			return err
		}
	}
	a.complete(names, asked)
	if err := p.checkAggregate(a, schema); err != nil {
		return err
	}
	var first error
	for i, name := range names {
		err := a.answersAll(asked[name])
		if err != nil && len(m.Types) > 0 {
			return e.Problem(fmt.Sprintf("materialize.types[%d]", i), "%s: %s", name, err)
		}
		if err == nil {
			a.types = append(a.types, name)
		} else if first == nil {
			first = fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(a.types) == 0 && first != nil {
		return e.Problem("materialize", "answers none of the query types (%s); choose other types or buckets", first)
	}
	p.aggregate = a
	return nil
}

// asked returns queries of each type, with their windows on borders of buckets.
func (p *Plan) asked(w workload.Workload, types []string) (map[string][]query.Query, error) {
	asked := make(map[string][]query.Query)
	spec := p.experiment.Workload
	spec.QuerySettings = p.experiment.Queries.Settings
	for _, name := range types {
		queries, err := p.experiment.Queries.Windows.Draw(w, spec, name, min(p.experiment.Queries.PerType(), lookedAt), true)
		if err != nil {
			return nil, p.specProblem(err)
		}
		asked[name] = slices.Collect(queries)
	}
	return asked, nil
}

// complete adds to an aggregate what the experiment left to its query types: those that
// any aggregate with buckets of the width could answer.
func (a *aggregated) complete(types []string, asked map[string][]query.Query) {
	fields, aggregates := len(a.Fields) == 0, len(a.Aggregates) == 0
	for _, name := range types {
		for _, q := range asked[name] {
			s, ok := q.Shape.(query.Buckets)
			if !ok {
				continue
			}
			if a.Table == "" {
				a.Table = q.Table
			}
			any := query.Materialized{Table: a.Table, Bucket: a.Bucket, Aggregates: query.Aggregates(), Fields: s.Fields}
			if any.Answers(&q) != nil {
				continue
			}
			if aggregates && !slices.Contains(a.Aggregates, s.Aggregate) {
				a.Aggregates = append(a.Aggregates, s.Aggregate)
			}
			for _, f := range s.Fields {
				if fields && !slices.Contains(a.Fields, f) {
					a.Fields = append(a.Fields, f)
				}
			}
		}
	}
}

// answersAll returns why the aggregate cannot answer all the queries of a type.
func (a *aggregated) answersAll(queries []query.Query) error {
	for i := range queries {
		if err := a.Answers(&queries[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkAggregate returns what of an aggregate the dataset does not have.
func (p *Plan) checkAggregate(a *aggregated, schema *series.Schema) error {
	e := p.experiment
	if a.Table == "" || len(a.Fields) == 0 || len(a.Aggregates) == 0 {
		return e.Problem("materialize", "answers none of the query types: none of them aggregates fields over buckets that are multiples of %s; choose other types or buckets",
			experiment.DurationText(a.Bucket))
	}
	t := schema.Table(a.Table)
	if t == nil {
		var tables []string
		for _, t := range schema.Tables {
			tables = append(tables, t.Name)
		}
		return e.Problem("materialize.table", "there is no table %q%s", a.Table, suggest.Names(a.Table, tables))
	}
	for i, name := range a.Fields {
		path := fmt.Sprintf("materialize.fields[%d]", i)
		switch at := t.FieldIndex(name); {
		case at < 0:
			var fields []string
			for _, f := range t.Fields {
				fields = append(fields, f.Name)
			}
			return e.Problem(path, "table %s has no field %q%s", t.Name, name, suggest.Names(name, fields))
		case !t.Fields[at].Type.Numeric():
			return e.Problem(path, "the values of %s are no numbers; leave it out", name)
		}
	}
	return nil
}

// isAggregated reports whether a query type is answered from the aggregate too.
func (p *Plan) isAggregated(queryType string) bool {
	return p.aggregate != nil && slices.Contains(p.aggregate.types, queryType)
}

// withAggregate returns query types with those behind them that are answered from the
// aggregate.
func (p *Plan) withAggregate(types []workload.QueryType) []workload.QueryType {
	var list []workload.QueryType
	for _, t := range types {
		list = append(list, t)
		if p.isAggregated(t.Name) {
			t.Name = result.FromAggregate(t.Name, p.aggregate.Width())
			t.Help += ", from the aggregate " + p.aggregate.Name()
			list = append(list, t)
		}
	}
	return list
}

// named gives queries the type that they are recorded as.
func named(queries iter.Seq[query.Query], queryType string) iter.Seq[query.Query] {
	return func(yield func(query.Query) bool) {
		for q := range queries {
			q.Type = queryType
			if !yield(q) {
				return
			}
		}
	}
}

// renderer returns how a target puts queries of a type: from rows, from the aggregate, or as
// texts of the user's, which the open database checks.
func (t *plannedTarget) renderer(ctx context.Context, db driver.DB, q *typeQueries) verify.Renderer {
	if q.written != nil {
		return func(one *query.Query, _ *series.Schema) (driver.Request, error) {
			return t.fill(ctx, db, q.written, one)
		}
	}
	if q.from == nil {
		return t.driver.Renderer(t.options)
	}
	return func(one *query.Query, s *series.Schema) (driver.Request, error) {
		if t.driver.RenderFrom == nil {
			return driver.Request{}, fmt.Errorf("%w: tsmark makes no continuous aggregates of %s", query.ErrUnsupported, t.driver.Name)
		}
		return t.driver.RenderFrom(one, q.from, s, t.options)
	}
}

// noAggregate returns why a target has no aggregate that a type could be answered from;
// nil: it has one, or needs none.
func noAggregate(out *result.Target, q *typeQueries) error {
	if q.from == nil {
		return nil
	}
	l := lastLoad(out)
	switch {
	case l == nil || l.Aggregate == nil:
		return fmt.Errorf("%w: no aggregate was made", query.ErrUnsupported)
	case l.Aggregate.Unsupported != "":
		return reasoned(l.Aggregate.Unsupported)
	}
	return nil
}

// read asks a target what it reads for the queries that are checked before anything is
// measured, so that answers from rows and from the aggregate can be compared by more than
// their times. Nil: its system does not tell.
func (x *checkStage) read(ctx context.Context, on *turn, q *typeQueries) (*result.Read, error) {
	if on.db.MeasureReads == nil {
		return nil, nil
	}
	render := on.planned.renderer(ctx, on.db, q)
	var rows, bytes []float64
	for i := range q.early {
		request, err := render(&q.early[i], x.subject.dataset.Schema())
		if err != nil {
			return nil, err
		}
		told, ok, err := on.db.MeasureReads(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("what is read: %w", err)
		}
		if !ok {
			return nil, nil
		}
		rows, bytes = append(rows, float64(told.Rows)), append(bytes, float64(told.Bytes))
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &result.Read{Rows: stats.Median(rows), Bytes: stats.Median(bytes)}, nil
}

// reasoned is an error of a reason that was recorded, which says what it wraps already.
type reasoned string

func (r reasoned) Error() string     { return string(r) }
func (reasoned) Is(other error) bool { return other == query.ErrUnsupported }

// aggregate makes the aggregate of what was loaded and counted, where the experiment wants
// one, and keeps what that took.
func (l *oneLoad) aggregate(ctx context.Context) error {
	wanted := l.stage.plan.aggregate
	if wanted == nil || l.found.Withheld != "" || l.on.planned.caps.Discards {
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
	if l.on.db.Materialize == nil || l.on.planned.driver.RenderFrom == nil {
		a.Unsupported = fmt.Sprintf("%v: tsmark makes no continuous aggregates of %s", query.ErrUnsupported, l.on.planned.driver.Name)
		return nil
	}
	task := l.stage.record.display.Start("aggregate "+a.Name+" on "+l.on.out.Name, "", 0)
	err := l.build(ctx, a)
	if err == nil && a.Unsupported == "" && l.stage.plan.experiment.Materialize.WhileLoading {
		err = l.keepUp(ctx, a)
	}
	switch {
	case err != nil:
		fail(ctx, task, err)
	case a.Unsupported != "":
		task.Finish("n/a: " + a.Unsupported)
	default:
		task.Finish(fmt.Sprintf("made of %d rows in %.3g s", a.Covered, a.Seconds))
	}
	return err
}

// rowsOf is how many rows a table should hold.
func (l *oneLoad) rowsOf(table string) int64 {
	tables := l.stage.subject.surveyFor(l.on.planned).Tables
	return tables[slices.IndexFunc(tables, func(c oracle.Census) bool { return c.Table.Name == table })].Rows
}

// extend makes the aggregate, which goes with the dataset from then on.
func (l *oneLoad) extend(ctx context.Context, keep bool) error {
	schema, wanted := l.stage.subject.dataset.Schema(), &l.stage.plan.aggregate.Materialized
	planned, err := l.on.db.PlanAggregate(schema, wanted)
	if err != nil {
		return err
	}
	return session.New(l.on.db).Extend(ctx, planned, func(ctx context.Context) error { return l.on.db.Materialize(ctx, schema, wanted, keep) })
}

// build makes the aggregate of the rows that are there.
func (l *oneLoad) build(ctx context.Context, a *result.Aggregate) (err error) {
	begin := time.Now()
	var settled time.Time
	a.Noise, err = l.stage.watch.noiseOf(ctx, func() error {
		err := l.extend(ctx, false)
		if err == nil {
			settled, err = driver.Settled(ctx, l.on.db)
		}
		return err
	})
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

// measureAggregate returns how many rows the aggregate accounts for, and its size.
func (l *oneLoad) measureAggregate(ctx context.Context) (covered, bytes int64, err error) {
	covered, bytes = -1, -1
	wanted := &l.stage.plan.aggregate.Materialized
	if covered, err = l.on.db.CountCovered(ctx, wanted); err == nil {
		bytes, err = l.on.db.AggregateFootprint(ctx, wanted)
	}
	return covered, bytes, err
}

// keepUp loads once more, from nothing, while the target keeps the aggregate up. What it
// holds afterwards is counted as after every load.
func (l *oneLoad) keepUp(ctx context.Context, a *result.Aggregate) error {
	f, err := l.stage.subject.feed(l.on.db, l.on.planned)
	if err != nil {
		return err
	}
	defer f.close()
	k := &result.KeptLoad{Fresh: -1, Covered: -1, DiskBytes: -1}
	again := &oneLoad{stage: l.stage, on: l.on, feed: f, mark: l.on.mark}
	again.mark.RowsExpected = f.rows
	if err := l.stage.force.Prepare(ctx, session.New(l.on.db), f.schema, again.mark); err != nil {
		return fmt.Errorf("before the load with an aggregate: %w", err)
	}
	err = again.extend(ctx, true)
	if errors.Is(err, query.ErrUnsupported) {
		k.Unsupported = err.Error()
	} else if err != nil {
		return fmt.Errorf("the aggregate: %w", err)
	}
	fresh := make(chan freshness, 1)
	config := l.stage.plan.settings.load
	config.Owner, config.InOrder = l.stage.subject.owner, l.on.planned.caps.InOrder
	config.Acked = func(ctx context.Context) {
		if k.Unsupported == "" {
			go func() { fresh <- watchFresh(ctx, l.on.db, &l.stage.plan.aggregate.Materialized, a.Expected) }()
		}
	}
	k.Cell, err = l.stage.watch.measure(ctx, l.on.planned.caps.Embedded, func() (err error) {
		again.found, err = engine.Load(ctx, config, f.dataset, l.on.db, func(int) {})
		return err
	})
	if err = again.leaveMark(ctx, err); err != nil {
		return fmt.Errorf("loading with an aggregate stopped after %s: %w", rowsOf(&again.mark), err)
	}
	if k.Unsupported != "" { // it is made of what is there after all, for the queries
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
	k.Withheld, l.found.Withheld = again.found.Withheld, again.found.Withheld // the queries are of what is there now
	l.mark = again.mark
	k.Covered, k.DiskBytes, err = l.measureAggregate(ctx)
	return err
}

// freshness is how long an aggregate took, in seconds, to account for every row; -1: it
// did not.
type freshness struct {
	after float64
	err   error
}

const (
	freshWait = 2 * time.Minute       // an aggregate that has not every row by then is called stale
	freshLook = 20 * time.Millisecond // between two looks
)

// watchFresh looks until the aggregate accounts for so many rows.
func watchFresh(ctx context.Context, db driver.DB, m *query.Materialized, rows int64) freshness {
	begin := time.Now()
	for {
		asked := time.Now()
		covered, err := db.CountCovered(ctx, m)
		switch {
		case err != nil:
			return freshness{err: err}
		case covered >= rows:
			return freshness{after: time.Since(begin).Seconds()}
		case time.Since(begin) > freshWait:
			return freshness{after: -1}
		}
		select { // a dear look is seldom taken, so that looking is not what keeps the target busy
		case <-ctx.Done():
			return freshness{err: ctx.Err()}
		case <-time.After(max(freshLook, 4*time.Since(asked))):
		}
	}
}
