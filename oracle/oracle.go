// Package oracle computes the expected answers of queries from the dataset
// itself, in one pass and without a database.
package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Expectation is the oracle's knowledge of the answer to one query.
type Expectation struct {
	Query *query.Query
	Rows  int64 // of the answer

	// One of these is set for a full query: Answer for the Buckets and Totals shapes and for
	// ordered rows, which have the digest as well; Digest for all others.
	Answer *query.Answer
	Digest *query.Digest
	// Any means that any subset of the matching rows with the expected number of rows is a correct
	// answer, and that neither Answer nor Digest is set: see FindUnmatched.
	Any bool
	// Choices are the groups of a Last query if several rows share the newest time of a group, and
	// those of an ActiveShare query with borderline buckets, so that several rows are correct. Answer
	// and Digest contain the first ones. Nil: there is one correct answer.
	Choices []query.Choice
	// Also are answers that differ from Answer and that systems document: see package promql. Empty for
	// all shapes but query.PromQL.
	Also []Alternative
}

// AnyNumber stands for an unknown number of rows: a group may be missing, as Choices says, or the target's semantics
// document another number (see Expectations.CountedBy).
const AnyNumber = -1

// Expectations holds the expectations of one pass.
type Expectations struct {
	Survey  Survey
	Full    []Expectation // in the order of the full queries
	Counted []int64       // rows of the answers, in the order of the queries only counted; or AnyNumber

	varying map[string][]int // by semantics, indexes of Counted where they document another number
}

// CountedBy is Counted for a target with the semantics, and AnyNumber where they document another number of rows.
func (x *Expectations) CountedBy(semantics string) []int64 {
	places := x.varying[semantics]
	if places == nil {
		return x.Counted
	}
	counted := slices.Clone(x.Counted)
	for _, i := range places {
		counted[i] = AnyNumber
	}
	return counted
}

// batchRows is the size of the oracle's batches.
const batchRows = 4096

// Pass reads the dataset once and returns its size, the answers to the full queries and the row
// counts of the counted ones. It reads the dataset a second time for queries that need the minimum
// or maximum of a field with a NaN, that have several rows at the newest time of a group, or that
// are only counted and affected by late rows.
//
// Full queries share their work: see family. Each row is processed once for all queries with the
// same filter, grouping and buckets, whatever their windows; all 16 devops types together have
// seven such families.
//
// PromQL expressions share the samples that they read, and are evaluated after the pass. Each shape of ticks takes its
// rows alone: see package ticks. Its query is an error if the answer depends on the order of rows with equal times.
//
// Memory is proportional to the number of series, the full answers that are kept (see Expectation),
// the number of queries, and the cells of the families. A family has cells for each combination of
// values that it distinguishes and that some query is about: one per bucket, and at most two per
// query window, where there are rows. A cell takes 24 bytes, and 8 to 16 for each field queried.
// The counted queries, possibly millions, are not kept; their sequence may be nil and must yield
// the same queries each time. Pass calls progress with the rows of each batch.
func Pass(ctx context.Context, d workload.Dataset, full []query.Query, counted iter.Seq[query.Query], progress func(rows int)) (*Expectations, error) {
	return PassSampling(ctx, d, Drawing{}, nil, full, counted, Progress{Rows: progress})
}

// Progress says how far a pass is. A nil function is not called.
type Progress struct {
	Rows func(rows int) // more rows were read
	// Evaluated is called after the rows were read, with the number of PromQL expressions that have
	// been evaluated and of all: first with 0, then after each, one call at a time.
	Evaluated func(done, all int)
}

// PassSampling is Pass, which also draws rows for Survey.Sample. Of Expectation.Also it computes only the
// answers by the semantics named (see driver.Driver); nil: all.
func PassSampling(ctx context.Context, d workload.Dataset, rows Drawing, semantics []string, full []query.Query, counted iter.Seq[query.Query], progress Progress) (*Expectations, error) {
	if progress.Rows == nil {
		progress.Rows = func(int) {}
	}
	if progress.Evaluated == nil {
		progress.Evaluated = func(int, int) {}
	}
	if counted == nil {
		counted = slices.Values([]query.Query(nil))
	}
	counted = countable(counted)
	out, late, err := pass(ctx, d, rows, semantics, full, counted, progress)
	if err != nil || len(late) == 0 {
		return out, err
	}
	// Counting relies on times that do not run backwards within a series.
	// Where they do, those queries are answered in full by another pass.
	var again []query.Query
	at := 0
	for q := range counted {
		if len(again) < len(late) && late[len(again)] == at {
			again = append(again, q)
		}
		at++
	}
	exact, _, err := pass(ctx, d, Drawing{}, semantics, again, slices.Values([]query.Query(nil)), progress)
	if err != nil {
		return nil, err
	}
	for i, l := range late {
		out.Counted[l] = exact.Full[i].Rows
	}
	return out, nil
}

// Rows returns the whole answer to q, in its order if it has one; for rows with a limit, some of
// the matching rows. Unlike Pass it also keeps row answers, however large they are.
func Rows(ctx context.Context, d workload.Dataset, q *query.Query) (*query.Answer, error) {
	answers, err := RowsOfEach(ctx, d, []query.Query{*q})
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

// RowsOfEach is Rows of several queries, in one pass.
func RowsOfEach(ctx context.Context, d workload.Dataset, queries []query.Query) ([]*query.Answer, error) {
	groups := newGroupings(d.Schema())
	evaluators := make([]*evaluator, len(queries)) // nil: PromQL
	promql := expressions{semantics: []string{}}
	places := make([]int, len(queries)) // of PromQL's answers
	for i := range queries {
		places[i], _ = promql.take(&queries[i], true)
	}
	add, err := promql.start(d.Schema())
	if err != nil {
		return nil, err
	}
	for i := range queries {
		if _, ok := queries[i].AsPromQL(); ok {
			continue
		}
		e, err := newSingle(&queries[i], d.Schema(), groups, true)
		if err != nil {
			return nil, err
		}
		evaluators[i], add = e, append(add, e.addAll)
	}
	if err := eachBatch(ctx, d, add, func(int) {}); err != nil {
		return nil, err
	}
	if err := promql.finish(ctx, func(int, int) {}); err != nil {
		return nil, err
	}
	answers := make([]*query.Answer, len(queries))
	for i, e := range evaluators {
		if e == nil {
			x := promql.expectation(places[i], &queries[i])
			answers[i] = x.Answer
			continue
		}
		if answers[i] = e.expectation().Answer; e.err != nil {
			return nil, e.err
		}
		if e.role == takes && (e.order != query.Unordered || e.needed > 0) {
			answers[i].Rows = inOrder(&queries[i], int(e.needed), answers[i].Rows)
		}
	}
	return answers, nil
}

// span is a run of the dataset and the times that it covers.
type span struct {
	*series.Run
	first, last int64
}

// eachBatch calls all functions with the nonempty runs of each batch of the dataset, and then
// progress with the number of their rows. A function gets the batches in order, one at a time, so
// it needs no lock; the functions run on all processors, concurrently with the reading of the next
// batch.
func eachBatch(ctx context.Context, d workload.Dataset, functions []func([]span), progress func(rows int)) error {
	reader := d.Open()
	var now, next series.Batch
	var runs []span
	for err := reader.Next(&now, batchRows); ; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the dataset for the expected answers: %w", err)
		}
		runs = spans(runs[:0], &now)
		inParallel(1+len(functions), func(i int) {
			if i == 0 {
				err = reader.Next(&next, batchRows)
			} else {
				functions[i-1](runs)
			}
		})
		progress(now.Rows())
		now, next = next, now
	}
}

// spans appends the runs of a batch that have rows.
func spans(to []span, b *series.Batch) []span {
	for i := range b.Runs {
		if run := &b.Runs[i]; run.Rows() > 0 {
			to = append(to, span{run, slices.Min(run.Times), slices.Max(run.Times)})
		}
	}
	return to
}

// inParallel calls the function with all numbers below n, on all processors,
// and waits until it has returned for each.
func inParallel(n int, do func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		group.Go(func() {
			for i := next.Add(1) - 1; int(i) < n; i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	group.Wait()
}

// pass is Pass, but returns the counted queries that met late rows.
func pass(ctx context.Context, d workload.Dataset, rows Drawing, semantics []string, full []query.Query, counted iter.Seq[query.Query], progress Progress) (*Expectations, []int, error) {
	schema := d.Schema()
	groups := newGroupings(schema)
	families := newFamilies(schema, groups)
	promql := expressions{semantics: semantics}
	fullBy := make([]*evaluator, len(full)) // nil: PromQL
	fullPromQL := make([]int, len(full))    // places among its answers
	for i := range full {
		at, taken := promql.take(&full[i], true)
		if fullPromQL[i] = at; taken {
			continue
		}
		var err error
		if fullBy[i], err = families.take(&full[i]); err != nil {
			return nil, nil, err
		}
	}
	counts := newCounter(schema, groups)
	var countedBy []*evaluator     // nil: the counter counts it, or it is PromQL
	countedPromQL := map[int]int{} // index among promql's queries, by index
	for q := range counted {
		if at, taken := promql.take(&q, false); taken {
			countedPromQL[len(countedBy)], countedBy = at, append(countedBy, nil)
			continue
		}
		var by *evaluator
		taken, err := counts.watch(len(countedBy), &q)
		if err == nil && !taken {
			by, err = families.take(&q)
		}
		if err != nil {
			return nil, nil, err
		}
		countedBy = append(countedBy, by)
	}
	counts.start()

	survey := newSurveyor(d)
	if rows.Seed != "" {
		survey.Sample(rows)
	}
	functions := append(survey.functions(runtime.GOMAXPROCS(0)), counts.addAll)
	of, err := families.start()
	if err != nil {
		return nil, nil, err
	}
	functions = append(functions, of...)
	if of, err = promql.start(schema); err != nil {
		return nil, nil, err
	}
	functions = append(functions, of...)
	if err = eachBatch(ctx, d, functions, progress.Rows); err != nil {
		return nil, nil, err
	}

	out := &Expectations{Survey: survey.Result(), Full: make([]Expectation, len(full)), Counted: make([]int64, len(countedBy))}
	alone, err := families.finish()
	if err != nil {
		return nil, nil, err
	}
	if err := answerAlone(ctx, d, groups, alone); err != nil {
		return nil, nil, err
	}
	if err := promql.finish(ctx, progress.Evaluated); err != nil {
		return nil, nil, err
	}
	assigned := map[*evaluator]bool{}
	for i, e := range fullBy {
		if e == nil {
			out.Full[i] = promql.expectation(fullPromQL[i], &full[i])
			continue
		}
		x := e.result()
		x.Query = &full[i]
		if assigned[e] && x.Answer != nil { // whose rows may be put in another order
			x.Answer = &query.Answer{Rows: slices.Clone(x.Answer.Rows)}
		}
		assigned[e] = true
		out.Full[i] = x
	}
	late := counts.finish(out.Counted)
	out.varying = map[string][]int{}
	for i, at := range countedPromQL {
		out.Counted[i] = promql.answers[at].Rows
		for _, semantics := range promql.varying[at] {
			out.varying[semantics] = append(out.varying[semantics], i)
		}
	}
	for i, e := range countedBy {
		if e != nil {
			out.Counted[i] = e.result().Rows
			if slices.ContainsFunc(e.result().Choices, func(c query.Choice) bool { return c.Optional }) {
				out.Counted[i] = AnyNumber
			}
		}
	}
	return out, late, nil
}

// answerAlone has evaluators see all rows of the dataset.
func answerAlone(ctx context.Context, d workload.Dataset, groups *groupings, evaluators []*evaluator) error {
	if len(evaluators) == 0 {
		return nil
	}
	var functions []func([]span)
	for _, e := range evaluators {
		alone, err := newSingle(e.query, d.Schema(), groups, false)
		if err != nil {
			return err
		}
		*e = *alone
		functions = append(functions, e.addAll)
	}
	return eachBatch(ctx, d, functions, func(int) {})
}

// meaning is the same for two equal queries.
func meaning(q *query.Query) string {
	plain := *q
	plain.Type, plain.ID = "", 0
	key, err := json.Marshal(&plain)
	if err != nil {
		panic(err) // a Query has no value that JSON cannot hold
	}
	return string(key)
}
