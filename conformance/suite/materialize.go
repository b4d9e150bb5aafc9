package suite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// materialize: an aggregate has every row, gives the same answers as rows do, and goes with its dataset;
// wrong answers show missing rows.
func (s *Suite) materialize(t T) {
	if s.driver.RenderFrom == nil {
		t.Skip("n/a: tsmark makes no aggregates of it")
	}
	for _, keep := range []bool{false, true} {
		name := map[bool]string{false: "made", true: "kept up"}[keep]
		if !s.brief() || keep { // else hostile values are made and the others kept up
			s.sub(t, name, func(t T) { s.aggregate(t, s.aggregateExample(t), keep) })
		}
		if !s.brief() || !keep {
			s.sub(t, name+", hostile values", func(t T) { s.aggregate(t, s.aggregatedHostile(), keep) })
		}
	}
	s.sub(t, "stale", s.stale)
	s.sub(t, "others' table", s.othersAggregate)
}

// aggregatedExample is an example whose queries an aggregate answers.
type aggregatedExample struct {
	example
	of query.Materialized
}

// aggregateExample returns a day of few hosts.
func (s *Suite) aggregateExample(t T) aggregatedExample {
	e := s.cpuOnly(t, 3)
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	m := query.Materialized{Table: "cpu", Bucket: time.Hour, Aggregates: query.Aggregates(), Fields: []string{"usage_user", "usage_idle"}}
	e.queries = nil
	for _, a := range query.Aggregates() {
		e.queries = append(e.queries,
			query.Query{Start: start.Add(2 * time.Hour), End: start.Add(14 * time.Hour), Shape: query.Buckets{Aggregate: a, Fields: m.Fields, Width: time.Hour, GroupBy: "hostname", Order: query.Ascending}},
			query.Query{Start: start, End: start.Add(24 * time.Hour), In: &query.TagIn{Key: "hostname", Values: []string{"host_1", "host_7"}},
				Shape: query.Buckets{Aggregate: a, Fields: m.Fields[1:], Width: 3 * time.Hour, Order: query.Ascending}},
			query.Query{End: start.Add(21 * time.Hour), Shape: query.Buckets{Aggregate: a, Fields: m.Fields[:1], Width: time.Hour, Order: query.Descending, Limit: 5}},
		)
	}
	numberQueries(e.queries...)
	return aggregatedExample{e.setTable(e.dataset.Schema().Table("cpu")), m}
}

// aggregatedHostile has NULLs, buckets and fields without a value, and times before 1970.
func (s *Suite) aggregatedHostile() aggregatedExample {
	e := s.hostile()
	table := e.dataset.Schema().Tables[0]
	m := query.Materialized{Table: table.Name, Bucket: 10 * time.Minute, Aggregates: []query.Aggregate{query.Max, query.Count, query.Avg}, Fields: []string{"share", "never"}}
	e.queries = nil
	for _, a := range m.Aggregates {
		e.queries = append(e.queries, query.Query{Shape: query.Buckets{Aggregate: a, Fields: m.Fields, Width: 30 * time.Minute, GroupBy: "hostname", Order: query.Ascending}},
			query.Query{Shape: query.Buckets{Aggregate: a, Fields: m.Fields, Width: 10 * time.Minute, Order: query.Ascending}})
	}
	numberQueries(e.queries...)
	return aggregatedExample{e.setTable(table), m}
}

// extend makes the aggregate, and reports whether the target can.
func extend(t T, db driver.DB, schema *series.Schema, m *query.Materialized, keep bool) bool {
	t.Helper()
	if db.Materialize == nil {
		t.Fatal("the driver has RenderFrom, and an open database lacks Materialize")
	}
	planned, err := db.PlanAggregate(schema, m)
	if err == nil {
		err = session.New(db).Extend(t.Context(), planned, func(ctx context.Context) error { return db.Materialize(ctx, schema, m, keep) })
	}
	if errors.Is(err, query.ErrUnsupported) {
		t.Logf("n/a: %v", err)
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

// write loads a dataset, and waits until it has settled.
func (s *Suite) write(t T, db driver.DB, d workload.Dataset) {
	t.Helper()
	if _, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 1000, Period: time.Minute, InOrder: s.caps.InOrder}, d, db, func(int) {}); err != nil {
		t.Fatal(err)
	}
}

// aggregate holds an aggregate to its answers, also once the target was opened again, and
// sees that it goes with the dataset.
func (s *Suite) aggregate(t T, e aggregatedExample, keep bool) {
	ctx, schema := t.Context(), e.dataset.Schema()
	if s.refused(t, schema) {
		return
	}
	env := driver.Env{Dir: t.TempDir(), Create: true}
	db := s.open(t, env)
	defer func() { Close(t, db) }()
	if err := session.New(db).Prepare(ctx, schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	if keep && !extend(t, db, schema, &e.of, true) {
		return
	}
	s.write(t, db, e.dataset)
	if !keep && !extend(t, db, schema, &e.of, false) {
		return
	}
	held := s.storedDataset(e.dataset)
	expected, err := oracle.Pass(ctx, held, e.queries, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	s.covers(t, db, &e.of, expected.Survey.Rows, keep)
	for _, when := range []string{"made", "opened again"} {
		if when == "opened again" {
			Close(t, db)
			env.Create = false
			db = s.open(t, env)
		}
		for i := range e.queries {
			if verdict, ok := s.checkAggregate(t, db, held, &e.of, expected.Full[i:i+1]); ok && !verdict.OK() {
				t.Errorf("%s, query %d: %s", when, i, verdict.Difference)
			}
		}
	}
	if bytes, err := db.AggregateFootprint(ctx, &e.of); err != nil || bytes == 0 || bytes < -1 {
		t.Errorf("%d bytes, %v", bytes, err)
	}
	Close(t, db)
	env.Create = true
	db = s.open(t, env)
	if err := session.New(db).Prepare(ctx, schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	if objects, err := db.Objects(ctx); err != nil || slices.ContainsFunc(objects, func(o driver.Object) bool { return strings.Contains(o.Name, e.of.Name()) }) {
		t.Errorf("the aggregate is there although its dataset was dropped: %v, %v", objects, err)
	}
}

// covers waits until the aggregate accounts for all rows: at once if it was made from them.
func (s *Suite) covers(t T, db driver.DB, m *query.Materialized, rows int64, wait bool) {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		covered, err := db.CountCovered(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if covered == rows {
			return
		}
		if !wait || covered > rows || time.Since(begin) > time.Minute {
			t.Errorf("the aggregate accounts for %d of %d rows", covered, rows)
			return
		}
	}
}

// checkAggregate compares answers from the aggregate with the expected ones.
func (s *Suite) checkAggregate(t T, db driver.DB, d workload.Dataset, m *query.Materialized, expected []oracle.Expectation) (verdict result.Verdict, ok bool) {
	t.Helper()
	render := func(q *query.Query, schema *series.Schema) (driver.Request, error) {
		return s.driver.RenderFrom(q, m, schema, s.options)
	}
	verdict, err := verify.Answers(t.Context(), verify.Config{Workers: 1}, db, render, d, expected)
	if errors.Is(err, query.ErrUnsupported) {
		t.Logf("a query: n/a: %v", err)
		return verdict, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return verdict, true
}

// stale: an aggregate that lacks rows answers wrong, and is caught.
func (s *Suite) stale(t T) {
	ctx, e := t.Context(), s.aggregateExample(t)
	schema := e.dataset.Schema()
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer Close(t, db)
	if err := session.New(db).Prepare(ctx, schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	expected, err := oracle.Pass(ctx, e.dataset, e.queries, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	first := expected.Survey.Rows / 2
	s.write(t, db, workload.LimitRows(e.dataset, first))
	if !extend(t, db, schema, &e.of, false) {
		return
	}
	s.covers(t, db, &e.of, first, false)
	s.write(t, db, workload.SkipRows(e.dataset, first))
	covered, err := db.CountCovered(ctx, &e.of)
	if err != nil {
		t.Fatal(err)
	}
	verdict, ok := s.checkAggregate(t, db, e.dataset, &e.of, expected.Full)
	after, err := db.CountCovered(ctx, &e.of) // it may have caught up meanwhile
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case !ok || covered < expected.Survey.Rows && after == expected.Survey.Rows:
	case covered < expected.Survey.Rows && verdict.OK():
		t.Errorf("the aggregate lacks %d rows, and its answers count as right", expected.Survey.Rows-covered)
	case covered == expected.Survey.Rows && !verdict.OK():
		t.Errorf("the aggregate has every row, and its answers count as wrong: %s", verdict.Difference)
	}
	t.Logf("the aggregate has %d of %d rows: %s", covered, expected.Survey.Rows, verdict.Difference)
}

// othersAggregate: an existing object with the name of the aggregate stays, and is in the way.
func (s *Suite) othersAggregate(t T) {
	ctx, e := t.Context(), s.aggregateExample(t)
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer Close(t, db)
	if err := session.New(db).Prepare(ctx, e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, db, workload.LimitRows(e.dataset, 1)) // some systems have nothing without a row
	if !extend(t, db, e.dataset.Schema(), &e.of, false) {
		return
	}
	planned, err := db.PlanAggregate(e.dataset.Schema(), &e.of)
	if err != nil {
		t.Fatal(err)
	}
	made := false
	err = session.New(db).Extend(ctx, planned, func(context.Context) error { made = true; return nil })
	if !errors.Is(err, driver.ErrExisting) || made {
		t.Errorf("an aggregate of a name that is taken: made %v, %v", made, err)
	}
	if len(planned) == 0 {
		t.Error("it plans no object")
	}
}

// readBytes: a system that reports its reads for a query reports all rows that the query
// covers, and not far more than there are values.
func (s *Suite) readBytes(t T) {
	ctx := t.Context()
	e := s.cpuOnly(t, 0)
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer db.Close()
	if db.MeasureReads == nil {
		t.Skip("n/a: the driver does not report reads")
	}
	if err := session.New(db).Prepare(ctx, e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	load, err := engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: 3000, Period: time.Minute, InOrder: s.caps.InOrder}, e.dataset, db, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	e.queries = []query.Query{{Shape: query.Buckets{Aggregate: query.Avg, Fields: []string{"usage_user"}, Width: time.Hour, Order: query.Ascending}}}
	e = e.setTable(e.dataset.Schema().Table("cpu"))
	request, err := s.driver.Renderer(s.options)(&e.queries[0], e.dataset.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if db.FlushMemory != nil {
		if err := db.FlushMemory(ctx); err != nil {
			t.Fatal(err)
		}
	}
	reads, ok, err := db.MeasureReads(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Skip("n/a: it does not report reads with these options or this server")
	}
	t.Logf("%d rows and %d bytes for a query about %d rows", reads.Rows, reads.Bytes, load.Rows)
	if reads.Rows >= 0 && (reads.Rows < load.Rows || reads.Rows > 2*load.Metrics) {
		t.Errorf("%d rows were read, of %d with %d values", reads.Rows, load.Rows, load.Metrics)
	}
	if reads.Bytes >= 0 && reads.Bytes < load.Rows/10 {
		t.Errorf("%d bytes were read for %d rows", reads.Bytes, load.Rows)
	}
	if reads.Rows < 0 && reads.Bytes < 0 {
		t.Error("it tells neither rows nor bytes")
	}
}
