package suite

import (
	"errors"
	"slices"
	"time"

	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The dataset of lies about rows. It has nine tables.
const (
	liedHosts    = 2
	liedInterval = 20 * time.Minute
	liedTime     = 6 * time.Hour
	liedRows     = int64(liedHosts * liedTime / liedInterval)
)

// liesAbout is the number of tables of a load that a lie is told about. The others are stored as they are.
const liesAbout = 8

// lies: a wrapper makes the database lie, one lie about each table or query type, and tsmark finds each of
// them through this driver. A driver that reports the rows that it was sent, not the stored ones, fails.
func (s *Suite) lies(t T) {
	for about := range slices.Chunk(lie.Contents(liedRows), liesAbout) {
		s.liesAboutRows(t, about)
	}
	s.liesAboutAnswers(t)
}

// liesAboutRows loads a dataset with a lie about each table, and expects that its census or the rows that
// are read back show it.
func (s *Suite) liesAboutRows(t T, lies []lie.Lie) {
	ctx := t.Context()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	dataset, err := tsbs.Devops().Dataset(workload.Spec{Name: tsbs.Devops().Name(), Seed: 123, Scale: liedHosts, Start: start, End: start.Add(liedTime), Interval: liedInterval})
	if err != nil {
		t.Fatal(err)
	}
	tables := dataset.Schema().Tables
	limited := make([]lie.Lie, len(lies))
	for i := range lies {
		limited[i] = lies[i].LimitTo(tables[i].Name)
	}
	expected, err := oracle.PassSampling(ctx, dataset, oracle.Drawing{Seed: "lies", Rows: len(tables) * int(liedRows)}, nil, nil, nil, oracle.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	lying := lie.Apply(s.driver, limited...)
	db, err := lying.Open(ctx, driver.Env{Dir: t.TempDir(), Create: true}, s.options)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(t, db)
	if err := session.New(db).Prepare(ctx, dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: 50, Period: time.Minute, InOrder: s.caps.InOrder}, dataset, db, func(int) {}); err != nil {
		t.Fatal(err)
	}
	census, err := verify.Census(ctx, db, &expected.Survey, verify.Sent{Acknowledged: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := verify.Rows(ctx, verify.Config{Workers: 1}, db, lying.Renderer(s.options), &expected.Survey, s.caps.Digits, census); err != nil {
		t.Fatal(err)
	}
	of := func(table string) result.CensusResult {
		return census[slices.IndexFunc(census, func(c result.CensusResult) bool { return c.Table == table })]
	}
	for _, table := range tables[len(lies):] {
		if problem := of(table.Name).Problem; problem != "" {
			t.Fatalf("no lie was told about table %s: %s", table.Name, problem)
		}
	}
	for i, l := range lies {
		s.sub(t, l.Name, func(t T) { s.lieAboutRows(t, l, of(tables[i].Name), db.ListSeries != nil) })
	}
}

// lieAboutRows expects that a table has a problem.
func (s *Suite) lieAboutRows(t T, l lie.Lie, found result.CensusResult, listsSeries bool) {
	switch {
	case found.Problem != "":
		t.Logf("found: %s", found.Problem)
	case l.Name == "duplicates" && s.caps.Dedupes:
		t.Skip("n/a: rows of one series and time become one")
	case l.List != nil && !listsSeries:
		t.Skip("n/a: the driver does not list series")
	case found.Contents.RowsUnread != "":
		t.Skipf("n/a: rows are not read back: %s", found.Contents.RowsUnread)
	default:
		t.Errorf("the lie is not found: a wrapper changes the rows of table %s before they are stored, or the list of its series, and the census matches; "+
			"do Census, CountRows and ListSeries report the stored rows?", found.Table)
	}
}

// liesToTypes lists the lies about answers, each with the query type whose answers show it.
func liesToTypes() []lie.Lie {
	all := slices.Concat(lie.Answers(), lie.ChangedAnswers())
	var lies []lie.Lie
	for _, l := range []struct{ lie, queryType string }{
		{"empty-but-counts", "single-groupby-1-1-1"}, {"rounds-values", "double-groupby-1"}, {"answers-infinity", "double-groupby-5"},
		{"misorders", "single-groupby-1-1-12"}, {"answers-older-query", "single-groupby-1-8-1"}, {"cuts-answers", "single-groupby-5-1-1"},
		{"stale-cache", "single-groupby-5-1-12"}, {"lies-between-tenths", "cpu-max-all-1"}, {"loses-middle-row", "cpu-max-all-8"},
		{"truncates-late", "double-groupby-all"}, {"honest-ten-times", "high-cpu-all"}, {"lies-when-run-again", "lastpoint"},
	} {
		lies = append(lies, lie.Find(all, l.lie).LimitTo(l.queryType))
	}
	return lies
}

// liedQueries is the number of queries of each type: some lies begin only after twenty honest answers.
const liedQueries = 24

// liesAboutAnswers tells a lie in answers of each query type, and expects that the comparison of answers
// finds it.
func (s *Suite) liesAboutAnswers(t T) {
	ctx := t.Context()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	use := tsbs.CPUOnly()
	spec := workload.Spec{Name: use.Name(), Seed: 123, Scale: 8, Start: start, End: start.Add(18 * time.Hour), Interval: liedInterval}
	dataset, err := use.Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	lies := liesToTypes()
	lying := lie.Apply(s.driver, lies...)
	db, err := lying.Open(ctx, driver.Env{Dir: t.TempDir(), Create: true}, s.options)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(t, db)
	if err := session.New(db).Prepare(ctx, dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, db, dataset)
	for _, l := range lies {
		sequence, err := use.Queries(spec, l.Subject, liedQueries)
		if err != nil {
			t.Fatal(err)
		}
		queries := slices.Collect(sequence)
		expected, err := oracle.Pass(ctx, dataset, queries, nil, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		s.sub(t, l.Name, func(t T) {
			verdict, err := verify.Answers(t.Context(), verify.Config{Workers: 1, Semantics: s.driver.Semantics}, db, lying.Renderer(s.options), dataset, expected.Full)
			switch {
			case errors.Is(err, query.ErrUnsupported):
				t.Skipf("n/a: %v", err)
			case err != nil:
				t.Fatal(err)
			case verdict.OK():
				t.Errorf("the lie is not found: answers to %s are changed, and all %d match the expected ones", l.Subject, verdict.Checked)
			default:
				t.Logf("found: %s", verdict.Difference)
			}
		})
	}
}
