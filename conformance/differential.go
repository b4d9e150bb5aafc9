package conformance

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
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

// differential compares the target's answers with the oracle's, and the
// oracle's with its own counts, over random datasets and queries. A seed
// always gives the same ones.
func (s *suite) differential(t *testing.T) {
	datasets := uint64(randomDatasets)
	switch {
	case s.brief():
		datasets = leastDatasets
	case testing.Short() || s.caps.Embedded:
		datasets = fewDatasets
	}
	answered, total := 0, 0
	for seed := range datasets {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			total += randomQueries
			answered += s.compareAll(t, s.newDice(seed))
		})
	}
	t.Logf("%d of %d queries are supported", answered, total)
	if answered < total/3 { // InfluxDB groups by no number: that alone is a third of them
		t.Errorf("only %d of %d queries are supported", answered, total)
	}
}

// compareAll compares the answers to queries about one dataset, and returns
// the number of queries that the target supports.
func (s *suite) compareAll(t *testing.T, d *dice) int {
	dataset := d.dataset()
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
		queries[i] = d.query(i)
	}
	pass, err := oracle.Pass(t.Context(), dataset, queries, slices.Values(queries), func(int) {})
	if err != nil {
		t.Fatal(err)
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
		problem, err := difference(t, dataset, q, querier, request)
		if s.isKnownFault(t, err) {
			continue
		}
		if err != nil {
			problem = err.Error()
		}
		if problem != "" {
			t.Errorf("query %d: %s\n%s", i, problem, request.Text)
		}
		if full, counted := pass.Full[i].Rows, pass.Counted[i]; full != counted {
			t.Errorf("query %d: the oracle answers %d rows and counts %d\n%s", i, full, counted, request.Text)
		}
	}
	return answered
}

// difference describes how the target's answer differs from the expected one, or is empty
// if it does not. The error is the target's, if it returned one.
func difference(t *testing.T, dataset *fixed, q *query.Query, querier driver.Querier, request driver.Request) (string, error) {
	t.Helper()
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
	if d := query.Compare(q, columns, expected, &found); d != nil {
		return d.String(), nil
	}
	return "", nil
}
