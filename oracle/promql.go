package oracle

import (
	"context"
	"slices"
	"sync"

	"github.com/tsmark/tsmark/oracle/promql"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Alternative is an answer that differs from the expected one, as a system documents. Its Semantics
// are those of driver.Driver.
type Alternative = promql.Alternative

// MaxRows returns the number of rows of the largest answer that a system may return.
func (x *Expectation) MaxRows() int64 {
	rows := x.Rows
	for i := range x.Also {
		rows = max(rows, int64(len(x.Also[i].Answer.Rows)))
	}
	return rows
}

// expressions answers the queries of a pass that are PromQL. Equal queries are answered once.
type expressions struct {
	semantics []string // see PassSampling
	queries   []*query.Query
	whole     []bool         // per query, whether its answer is kept, and not only counted
	places    map[string]int // of the queries, by meaning
	set       *promql.Set    // nil: there are no queries
	answers   []Expectation
	varying   [][]string // per query, the semantics that document another number of rows
}

// take takes a query if it is PromQL, and returns the index of its answer.
func (e *expressions) take(q *query.Query, whole bool) (index int, taken bool) {
	if _, ok := q.AsPromQL(); !ok {
		return 0, false
	}
	key := meaning(q)
	if at, known := e.places[key]; known {
		e.whole[at] = e.whole[at] || whole
		return at, true
	}
	if e.places == nil {
		e.places = map[string]int{}
	}
	e.places[key] = len(e.queries)
	e.queries, e.whole = append(e.queries, q), append(e.whole, whole)
	return len(e.queries) - 1, true
}

// start returns the functions that must be called with all rows.
func (e *expressions) start(s *series.Schema) (functions []func([]span), err error) {
	if len(e.queries) == 0 {
		return nil, nil
	}
	if e.set, err = promql.New(s, e.queries); err != nil {
		return nil, err
	}
	e.set.Semantics = e.semantics
	return []func([]span){e.addAll}, nil
}

func (e *expressions) addAll(runs []span) {
	for _, run := range runs {
		e.set.Add(run.Run)
	}
}

// finish computes the answers; progress is that of Progress.Evaluated.
func (e *expressions) finish(ctx context.Context, progress func(done, all int)) error {
	if e.set == nil {
		return nil
	}
	done, all := 0, len(e.queries)
	progress(done, all)
	e.set.Finish()
	e.answers, e.varying = make([]Expectation, len(e.queries)), make([][]string, len(e.queries))
	var mu sync.Mutex
	var first error
	inParallel(len(e.queries), func(i int) {
		x, err := e.answer(ctx, i)
		for _, a := range x.Also {
			if int64(len(a.Answer.Rows)) != x.Rows {
				e.varying[i] = append(e.varying[i], a.Semantics)
			}
		}
		if !e.whole[i] {
			x = Expectation{Query: x.Query, Rows: x.Rows}
		}
		mu.Lock()
		defer mu.Unlock()
		if e.answers[i] = x; first == nil {
			first = err
		}
		done++
		progress(done, all)
	})
	return first
}

// expectation returns that of a query whose answer is kept. Its rows may be put in another order.
func (e *expressions) expectation(at int, q *query.Query) Expectation {
	x := e.answers[at]
	x.Query, x.Answer = q, &query.Answer{Rows: slices.Clone(x.Answer.Rows)}
	x.Also = slices.Clone(x.Also)
	for i := range x.Also {
		x.Also[i].Answer = &query.Answer{Rows: slices.Clone(x.Also[i].Answer.Rows)}
	}
	return x
}

// answer returns the expectation of a query from the samples added so far.
func (e *expressions) answer(ctx context.Context, i int) (Expectation, error) {
	answer, also, err := e.set.Answer(ctx, i)
	if err != nil {
		return Expectation{}, err
	}
	return Expectation{Query: e.queries[i], Rows: int64(len(answer.Rows)), Answer: answer, Also: also}, nil
}
