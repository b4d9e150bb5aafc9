package suite

import (
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// The size of the test of shared work.
const (
	sharedDatasets = 60
	sharedQueries  = 400 // about each: enough that most share something
)

// Sharing work among queries in a pass changes no answer: each is the same as for a query
// that reads every row alone. Rows are late, values are NULL, infinite and
// NaN, and series lack tags.
func TestSharedAnswersAreThoseAlone(t *testing.T) {
	shapes := map[string]int{}
	for seed := range uint64(sharedDatasets) {
		s := &Suite{caps: driver.Caps{TimePrecision: 1}}
		d := s.newDice(seed)
		d.dataset()
		if d.often(50) {
			d.spoil()
		}
		if d.often(40) {
			d.coarsen()
		}
		queries := make([]query.Query, sharedQueries)
		for i := range queries {
			queries[i] = d.query(i)
			if d.often(5) {
				queries[i] = d.newest(i)
			}
			if i > 0 && d.often(60) {
				queries[i] = d.variant(&queries[d.IntN(i)], i)
			}
		}
		parts := inParts{d.data, 1 + d.IntN(3)}
		pass, err := oracle.Pass(t.Context(), parts, queries, slices.Values(queries), func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		alone, err := oracle.NewGrowing(d.data.schema, queries)
		if err != nil {
			t.Fatal(err)
		}
		alone.Add(&d.data.batch)
		for i := range queries {
			q := &queries[i]
			shapes[fmt.Sprintf("%T", q.Shape)]++
			got, want := pass.Full[i], alone.Expectation(i)
			if problem := unlike(q, d.data.schema, &want, &got); problem != "" {
				t.Errorf("seed %d, query %d: %s\n%+v", seed, i, problem, *q)
			}
			counted := got.Rows
			if slices.ContainsFunc(got.Choices, func(c query.Choice) bool { return c.Optional }) {
				counted = oracle.AnyNumber
			}
			if counted != pass.Counted[i] {
				t.Errorf("seed %d, query %d: answered %d rows, counted %d\n%+v", seed, i, got.Rows, pass.Counted[i], *q)
			}
		}
	}
	t.Log(shapes)
	if len(shapes) != 13 {
		t.Errorf("only these shapes were queried: %v", shapes)
	}
}

// unlike returns the difference between two expectations. Only sums may differ, by rounding.
func unlike(q *query.Query, schema *series.Schema, want, got *oracle.Expectation) string {
	switch {
	case want.Rows != got.Rows:
		return fmt.Sprintf("%d rows, want %d", got.Rows, want.Rows)
	case want.Any != got.Any || (want.Digest == nil) != (got.Digest == nil) || (want.Answer == nil) != (got.Answer == nil):
		return fmt.Sprintf("another kind of expectation: %+v, want %+v", got, want)
	case want.Digest != nil && !want.Digest.Equal(got.Digest):
		return "another digest"
	case want.Answer == nil:
		return ""
	}
	sums := q.Activity() != nil
	switch s := q.Shape.(type) {
	case query.Buckets:
		sums = s.Aggregate == query.Avg || s.Aggregate == query.Sum
	case query.Totals:
		sums = s.Aggregate == query.Avg || s.Aggregate == query.Sum
	case query.Means, query.UnitMeans:
		sums = true
	}
	if sums {
		if diff := query.Compare(q, q.Columns(schema.Table(q.Table)), want.Answer, got.Answer); diff != nil {
			return diff.String()
		}
		return ""
	}
	for i := range want.Answer.Rows {
		if w, g := query.RowText(want.Answer.Rows[i]), query.RowText(got.Answer.Rows[i]); w != g {
			return fmt.Sprintf("row %d is %s, want %s", i, g, w)
		}
	}
	return ""
}

// spoil makes values NaN.
func (d *dice) spoil() {
	for r := range d.data.batch.Runs {
		for c := range d.data.batch.Runs[r].Columns {
			for i := range d.data.batch.Runs[r].Columns[c].Floats {
				if d.often(10) {
					d.data.batch.Runs[r].Columns[c].Floats[i] = math.NaN()
				}
			}
		}
	}
}

// coarsen gives many rows the same time.
func (d *dice) coarsen() {
	for r := range d.data.batch.Runs {
		for i, t := range d.data.batch.Runs[r].Times {
			d.data.batch.Runs[r].Times[i] = query.BucketOf(t, 12*time.Hour)
		}
	}
}

// variant is a query with another window, filter or limit than one before.
func (d *dice) variant(of *query.Query, id int) query.Query {
	q := *of
	q.ID = id
	switch d.IntN(4) {
	case 0:
		q.Start = d.time()
	case 1:
		q.End = d.time()
	case 2:
		q.Start, q.End = d.time(), d.time()
	default:
		if q.In != nil {
			key := q.In.Key
			for q.In = d.tagFilter(d.data.schema.Table(q.Table)); q.In.Key != key; {
				q.In = d.tagFilter(d.data.schema.Table(q.Table))
			}
		}
	}
	if s, ok := q.Shape.(query.Buckets); ok && s.Order != query.Unordered && d.often(30) {
		s.Limit = d.IntN(9)
		q.Shape = s
	}
	return q
}

// newest queries the newest rows, with several rows of the same time: the one that arrived last
// counts.
func (d *dice) newest(id int) query.Query {
	table := pick(d, d.data.schema.Tables)
	q := query.Query{Type: "random", ID: id, Table: table.Name, Shape: d.last(table)}
	if d.often(70) {
		q.In = d.tagFilter(table)
	}
	return q
}

// inParts is a dataset in batches of a number of runs.
type inParts struct {
	*fixed
	runs int
}

func (p inParts) Open() workload.Reader { return &partReader{p.batch.Runs, p.runs} }

type partReader struct {
	left []series.Run
	runs int
}

func (r *partReader) Next(b *series.Batch, _ int) error {
	if *b = (series.Batch{}); len(r.left) == 0 {
		return io.EOF
	}
	n := min(r.runs, len(r.left))
	b.Runs, r.left = r.left[:n], r.left[n:]
	return nil
}
