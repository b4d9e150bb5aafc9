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
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Census is what a table of the dataset holds.
type Census struct {
	Table  *series.Table
	Rows   int64
	Points []int64 // per field, values that are not NULL
}

// Survey is the size of a dataset.
type Survey struct {
	Rows     int64
	Metrics  int64 // values that are not NULL
	RawBytes int64 // as line protocol
	Tables   []Census
	// Lateness is by how much a row arrives behind a newer one at most; 0:
	// times never run backwards.
	Lateness time.Duration
	// Late says more where the dataset is a workload.Delayed and rows are late.
	Late *Late
}

// Expectation is what the oracle knows of the answer to one query.
type Expectation struct {
	Query *query.Query
	Rows  int64 // of the answer

	// One of these is set for a query that was asked for in full: the whole
	// answer of the Buckets and Totals shapes and of ordered rows, which have the
	// digest as well; the digest of the others.
	Answer *query.Answer
	Digest *query.Digest
	// Any says that the answer is any so many of the rows that match, and that
	// neither is set: see Strangers.
	Any bool
}

// Expectations are those of one pass.
type Expectations struct {
	Survey  Survey
	Full    []Expectation // in the order of the queries asked for in full
	Counted []int64       // rows of the answers, in the order of the queries only counted
}

// batchRows is the size of the oracle's batches.
const batchRows = 4096

// Pass reads the dataset once and returns its size, the answers to the full
// queries and the row counts of the counted ones. Memory is proportional to
// the series, to the full answers that have buckets, and to the number of
// queries; the counted ones themselves, of which there may be millions, are not
// kept. The sequence of them, which may be nil, gives the same each time. It
// calls progress with the rows of each batch.
func Pass(ctx context.Context, d workload.Dataset, full []query.Query, counted iter.Seq[query.Query], progress func(rows int)) (*Expectations, error) {
	if counted == nil {
		counted = slices.Values([]query.Query(nil))
	}
	out, late, err := pass(ctx, d, full, counted, progress)
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
	exact, _, err := pass(ctx, d, again, slices.Values([]query.Query(nil)), progress)
	if err != nil {
		return nil, err
	}
	for i, l := range late {
		out.Counted[l] = exact.Full[i].Rows
	}
	return out, nil
}

// Rows returns the whole answer to q, in its order where it has one; of rows with
// a limit, some of those that match. Unlike Pass it keeps row answers as well,
// however large they are.
func Rows(ctx context.Context, d workload.Dataset, q *query.Query) (*query.Answer, error) {
	groups := newGroupings(d.Schema())
	e, err := newEvaluator(q, d.Schema(), groups, true)
	if err != nil {
		return nil, err
	}
	if err := eachBatch(ctx, d, e.addAll); err != nil {
		return nil, err
	}
	answer := e.expectation().Answer
	if q.Shape == query.Rows && (q.Order != query.Unordered || q.Limit > 0) {
		answer.Rows = inOrder(q, answer.Rows)
	}
	return answer, nil
}

// span is a run of the dataset and the times that it covers.
type span struct {
	*series.Run
	first, last int64
}

// eachBatch calls visit with the runs of each batch of the dataset, empty ones
// left out.
func eachBatch(ctx context.Context, d workload.Dataset, visit func([]span)) error {
	var batch series.Batch
	var runs []span
	for reader := d.Open(); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := reader.Next(&batch, batchRows); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the dataset for the expected answers: %w", err)
		}
		runs = spans(runs[:0], &batch)
		visit(runs)
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

// inParallel calls all functions with the runs, on all processors, and waits
// for them. Each function sees every batch, in order, so it needs no lock.
func inParallel(functions []func([]span), runs []span) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(functions)) {
		group.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(functions); i = next.Add(1) - 1 {
				functions[i](runs)
			}
		})
	}
	group.Wait()
}

// pass is Pass, but returns the counted queries that met late rows.
func pass(ctx context.Context, d workload.Dataset, full []query.Query, counted iter.Seq[query.Query], progress func(rows int)) (*Expectations, []int, error) {
	schema := d.Schema()
	groups := newGroupings(schema)

	// Equal questions under several ids, such as every lastpoint, are
	// answered once.
	evaluators := map[string]*evaluator{}
	evaluatorOf := func(q *query.Query) (*evaluator, error) {
		key := meaning(q)
		if e := evaluators[key]; e != nil {
			return e, nil
		}
		e, err := newEvaluator(q, schema, groups, false)
		evaluators[key] = e
		return e, err
	}
	fullBy := make([]*evaluator, len(full))
	for i := range full {
		var err error
		if fullBy[i], err = evaluatorOf(&full[i]); err != nil {
			return nil, nil, err
		}
	}
	counts := newCounter(schema, groups)
	var countedBy []*evaluator // nil: the counter counts it
	for q := range counted {
		var by *evaluator
		taken, err := counts.watch(len(countedBy), &q)
		if err == nil && !taken {
			by, err = evaluatorOf(&q)
		}
		if err != nil {
			return nil, nil, err
		}
		countedBy = append(countedBy, by)
	}
	counts.start()

	survey := newSurveyor(schema)
	if delayed, ok := d.(workload.Delayed); ok {
		survey.late = newLateness(schema, delayed.Step())
	}
	functions := []func([]span){survey.addAll, counts.addAll}
	for _, e := range evaluators {
		functions = append(functions, e.addAll)
	}
	err := eachBatch(ctx, d, func(runs []span) {
		inParallel(functions, runs)
		rows := 0
		for _, run := range runs {
			rows += run.Rows()
		}
		progress(rows)
	})
	if err != nil {
		return nil, nil, err
	}

	out := &Expectations{Survey: survey.result(), Full: make([]Expectation, len(full)), Counted: make([]int64, len(countedBy))}
	for i, e := range fullBy {
		out.Full[i] = e.expectation()
		out.Full[i].Query = &full[i]
	}
	late := counts.finish(out.Counted)
	for i, e := range countedBy {
		if e != nil {
			out.Counted[i] = e.expectation().Rows
		}
	}
	return out, late, nil
}

// meaning is the same for two queries that ask the same.
func meaning(q *query.Query) string {
	plain := *q
	plain.Type, plain.ID = "", 0
	key, err := json.Marshal(&plain)
	if err != nil {
		panic(err) // a Query has no value that JSON cannot hold
	}
	return string(key)
}

// surveyor counts what passes.
type surveyor struct {
	encoder encode.Encoder
	text    []byte
	batch   series.Batch
	survey  Survey
	newest  int64     // time of a row so far
	late    *lateness // nil: not asked for
}

func newSurveyor(s *series.Schema) *surveyor {
	v := &surveyor{encoder: encode.NewLineProtocol(s), batch: series.Batch{Runs: make([]series.Run, 1)}, newest: math.MinInt64}
	for _, t := range s.Tables {
		v.survey.Tables = append(v.survey.Tables, Census{Table: t, Points: make([]int64, len(t.Fields))})
	}
	return v
}

func (v *surveyor) addAll(runs []span) {
	for _, run := range runs {
		v.add(run.Run)
	}
}

func (v *surveyor) add(run *series.Run) {
	v.batch.Runs[0] = *run
	if v.late != nil {
		v.late.add(run)
	}
	v.text = v.encoder.Append(v.text[:0], &v.batch)
	v.survey.RawBytes += int64(len(v.text))
	for _, t := range run.Times {
		if v.newest > t {
			v.survey.Lateness = max(v.survey.Lateness, time.Duration(v.newest-t))
		} else {
			v.newest = t
		}
	}
	rows := int64(run.Rows())
	v.survey.Rows += rows
	for i := range v.survey.Tables {
		c := &v.survey.Tables[i]
		if c.Table != run.Table {
			continue
		}
		c.Rows += rows
		for f := range run.Columns {
			c.Points[f] += int64(run.Values(f))
		}
	}
}

func (v *surveyor) result() Survey {
	for _, t := range v.survey.Tables {
		for _, n := range t.Points {
			v.survey.Metrics += n
		}
	}
	if v.late != nil {
		v.survey.Late = v.late.result()
	}
	return v.survey
}
