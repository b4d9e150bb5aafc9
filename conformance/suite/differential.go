package suite

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// The size of the differential test.
const (
	randomDatasets = 20
	fewDatasets    = 8  // the first of them, with -short and in tsmark's process
	leastDatasets  = 4  // the first of them, if the suite is brief
	randomQueries  = 40 // about each
)

// Random compares the target's answers with the oracle's, and the
// oracle's with its own counts, over random datasets and queries. A seed
// always gives the same ones.
func (s *Suite) Random(t T) {
	datasets := uint64(randomDatasets)
	switch {
	case s.brief():
		datasets = leastDatasets
	case s.config.Short || s.caps.Embedded:
		datasets = fewDatasets
	}
	answered, total := 0, 0
	for seed := range datasets {
		s.sub(t, fmt.Sprint("seed ", seed), func(t T) {
			total += randomQueries
			d := s.newDice(seed)
			answered += s.compareAll(t, d, d.dataset(), d.query)
		})
	}
	t.Logf("%d of %d queries are supported", answered, total)
	if answered < total/3 { // InfluxDB groups by no number: that alone is a third of them
		t.Errorf("only %d of %d queries are supported", answered, total)
	}
}

// The random datasets of metrics.
const metricDatasets = 3

// metrics compares the target's answers with the oracle's over random samples of a counter.
func (s *Suite) metrics(t T) {
	for seed := range uint64(metricDatasets) {
		s.sub(t, fmt.Sprint("seed ", seed), func(t T) {
			d := s.newDice(seed)
			dataset := d.metric()
			example := d.overTime(0)
			if _, err := s.driver.Render(&example, dataset.schema, s.options); errors.Is(err, query.ErrUnsupported) {
				t.Skipf("n/a: %v", err)
			}
			s.compareAll(t, d, dataset, d.overTime)
		})
	}
}

// compareAll compares the answers to queries about one dataset, and returns
// the number of queries that the target supports.
func (s *Suite) compareAll(t T, d *dice, dataset *fixed, draw func(id int) query.Query) int {
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer Close(t, db)
	if err := session.New(db).Prepare(t.Context(), dataset.schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	// In several batches, so that series come and come again.
	for runs := dataset.batch.Runs; len(runs) > 0; {
		n := 1 + d.IntN(len(runs))
		Write(t, db, &series.Batch{Runs: runs[:n]})
		runs = runs[n:]
	}
	if err := db.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	queries := make([]query.Query, randomQueries)
	for i := range queries {
		queries[i] = draw(i)
	}
	pass, err := oracle.Pass(t.Context(), dataset, queries, slices.Values(queries), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(dataset.schema.Tables[0].Fields, func(f series.Field) bool { return f.Decimals > 0 }) {
		census, err := verify.Census(t.Context(), db, &pass.Survey, verify.Sent{Acknowledged: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range census {
			if c.Problem != "" {
				t.Error(c.Problem)
			}
		}
	}
	querier := Querier(t, db)
	defer Close(t, querier)
	answered := 0
	for i := range queries {
		q := &queries[i]
		request, err := s.driver.Render(q, dataset.schema, s.options)
		if errors.Is(err, query.ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Fatalf("query %d: %v", i, err)
		}
		answered++
		problem, err := s.difference(t, dataset, &pass.Full[i], querier, request)
		if s.isKnownFault(t, err) || errors.Is(err, query.ErrUnsupported) { // by the server's version
			continue
		}
		if err != nil {
			problem = err.Error()
		}
		if problem != "" {
			t.Errorf("query %d: %s\n%s", i, problem, request.Text)
		}
		if full, counted := pass.Full[i].Rows, pass.Counted[i]; full != counted && counted != oracle.AnyNumber {
			t.Errorf("query %d: the oracle answers %d rows and counts %d\n%s", i, full, counted, request.Text)
		}
	}
	return answered
}

// difference describes how the target's answer differs from the expected one and from each alternative
// that the system documents; it is empty if the answer matches one of them. The error is the target's,
// if it returned one.
func (s *Suite) difference(t T, dataset *fixed, x *oracle.Expectation, querier driver.Querier, request driver.Request) (string, error) {
	t.Helper()
	q := x.Query
	expected, err := oracle.Rows(t.Context(), dataset, q)
	if err != nil {
		t.Fatal(err)
	}
	var found query.Answer
	if _, err := querier.Do(t.Context(), request, &found); err != nil {
		return "", err
	}
	if any, limited := q.Shape.(query.AnyRows); limited {
		if want := min(any.Limit, len(expected.Rows)); len(found.Rows) != want {
			return fmt.Sprintf("%d rows, want any %d", len(found.Rows), want), nil
		}
		unmatched, err := oracle.FindUnmatched(t.Context(), dataset, q, &found)
		if err != nil {
			t.Fatal(err)
		}
		if unmatched != nil {
			return "a row that does not match: " + query.RowText(unmatched), nil
		}
		return "", nil
	}
	columns := q.Columns(dataset.schema.Table(q.Table))
	d := query.Compare(q, columns, expected, &found)
	if d == nil || slices.ContainsFunc(x.Also, func(a oracle.Alternative) bool {
		return a.Semantics == s.driver.Semantics && query.Compare(q, columns, a.Answer, &found) == nil
	}) {
		return "", nil
	}
	return d.String(), nil
}
