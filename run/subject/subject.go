// Package subject provides the data and the queries of a run: the dataset, the queries generated
// for it, and the answers that the oracle or a reference expects.
package subject

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
)

// Subject is the dataset of a run with the queries generated for it, and the oracle's knowledge of
// both. Of targets it knows only how they store rows.
type Subject struct {
	Plan    *plan.Plan
	Display record.Display
	Scratch string          // folder for temporary folders
	Input   io.Reader       // standard input, if the rows come from there
	Record  *result.Dataset // the run's record of it
	Seed    string          // seed of the rows that are read back: result.Run.CheckSeed

	texted   workload.Texted         // workload with texts of another benchmark; nil: none
	Rows     int64                   // maximum; 0: unknown
	Dataset  workload.Dataset        // nil: not known yet
	Further  workload.Dataset        // rows behind those of Dataset, if the load has a limit
	dealt    workload.Dealt          // the dataset before its series were assigned to writers; nil: they are not
	Owner    func(*series.Batch) int // the worker that writes a batch, of Load.Workers; nil: any worker
	Viewed   [plan.Views]viewed
	Queries  []plan.TypeQueries
	Expected *oracle.Expectations // set after a pass over the dataset
	File     *ingest.Source       // source of the rows; nil: they are generated
	parsed   *ingest.Dataset      // the file's rows, once a target needs them
	Passed   time.Duration        // total time of the oracle's passes

	References references // answer reference texts
}

// Schema returns the dataset's schema; nil: unknown.
func (s *Subject) Schema() *series.Schema {
	if s.Dataset == nil {
		return nil
	}
	return s.Dataset.Schema()
}

// Prepare determines the dataset and generates the queries, from their own seed. The check's seed
// selects the answers to check before the measurement.
func (s *Subject) Prepare(spec workload.Spec, checkSeed string, querySeed int64) error {
	w, types, err := s.Plan.Dataset(spec)
	if err != nil {
		return err
	}
	if s.Plan.Experiment.Crash.Enabled() {
		if spec, err = s.Plan.ExtendForCrashes(w, spec); err != nil {
			return err
		}
	}
	drawing := spec
	drawing.QuerySeed = querySeed
	if s.Queries, err = s.Plan.Draw(w, types, drawing, s.Plan.Experiment.Queries.Count, checkSeed); err != nil {
		return err
	}
	d, err := w.Dataset(spec)
	if err != nil {
		return s.Plan.Experiment.SpecProblem(err)
	}
	if f, ok := d.(workload.FromFiles); ok {
		reread := f.Reread()
		s.Record.Files, s.Record.Reread = f.Files(), &reread
	}
	s.texted, _ = w.(workload.Texted)
	about := w.Describe(spec)
	s.Rows = about.RowsAtMost
	if err := s.CheckLife(s.Rows); err != nil {
		return err
	}
	if spec.Limit >= s.Rows {
		spec.Limit = 0 // the same dataset as without a limit
	}
	if spec.Limit > 0 {
		s.Rows = spec.Limit
	}
	if dealt, ok := d.(workload.Dealt); ok && s.Plan.Steps.Load && s.File == nil {
		s.dealt = dealt
		load := &s.Plan.Experiment.Load
		if d, s.Owner, err = s.deal(load.Workers, load.BatchSize); err != nil {
			return s.Plan.Experiment.Problem("load.workers", "%v", err)
		}
	}
	s.Dataset, s.Further = d, workload.SkipRows(d, spec.Limit)
	if err := s.checkDealing(spec); err != nil {
		return err
	}
	if spec.Limit > 0 {
		s.Dataset = workload.LimitRows(d, spec.Limit)
	}
	if err := s.setViews(spec, latestOf(d), about.Repeats); err != nil {
		return err
	}
	s.Record.Spec, s.Record.Fingerprint, s.Record.Series = spec, workload.Fingerprint(w, spec), d.Schema().Series
	return nil
}

// deal assigns the series to workers that write batches of a size. It returns the dataset in their
// order, and the worker that writes a batch; nil: a single one.
func (s *Subject) deal(workers, batchSize int) (workload.Dataset, func(*series.Batch) int, error) {
	if workers < 2 {
		return s.dealt, nil, nil
	}
	d, err := s.dealt.Deal(workers, batchSize)
	return d, func(b *series.Batch) int { return s.dealt.Client(b.Runs[0].Series[0], workers) }, err
}

// DealTo returns the dataset in the order in which a target's workers write it, and the worker that
// writes a batch; nil: any worker.
func (s *Subject) DealTo(t *plan.Target) (workload.Dataset, func(*series.Batch) int, error) {
	load := &s.Plan.Experiment.Load
	if s.dealt == nil || t.Workers == load.Workers && t.BatchSize == load.BatchSize {
		return s.Dataset, s.Owner, nil
	}
	return s.deal(t.Workers, t.BatchSize)
}

// checkDealing returns an error if targets cannot have the workers or the batch size that they
// request.
func (s *Subject) checkDealing(spec workload.Spec) error {
	e := s.Plan.Experiment
	for i := range s.Plan.Targets {
		t := &s.Plan.Targets[i]
		if s.dealt == nil || t.Workers == e.Load.Workers && t.BatchSize == e.Load.BatchSize {
			continue
		}
		path := fmt.Sprintf("targets[%d].workers", i)
		if t.Workers == e.Load.Workers {
			path = fmt.Sprintf("targets[%d].batch-size", i)
		}
		if spec.Limit > 0 || e.QueriesBesideWrites() {
			return e.Problem(path, "the order of this workload's rows depends on it, and with load.limit or a mixed phase all targets need the same order; leave it out, and set load.workers and load.batch-size")
		}
		if _, _, err := s.DealTo(t); err != nil {
			return e.Problem(path, "%v", err)
		}
	}
	return nil
}

// QuerySets returns the run's record of the queries.
func (s *Subject) QuerySets() []result.QuerySet {
	var list []result.QuerySet
	for _, q := range s.Queries {
		list = append(list, q.Set)
	}
	return list
}

// QueriesOf returns the run's queries of a type.
func (s *Subject) QueriesOf(queryType string) *plan.TypeQueries {
	for i := range s.Queries {
		if s.Queries[i].Type.Name == queryType {
			return &s.Queries[i]
		}
	}
	return nil
}

// Learn determines the contents of the dataset and the expected answers, unless they are known. It
// takes as long as a pass over all rows, so only the load of a mixed phase waits for it, because
// its first part is a share of the rows.
func (s *Subject) Learn(ctx context.Context, t driver.DB, planned *plan.Target) error {
	if err := s.computeDigest(ctx); err != nil {
		return err
	}
	if err := s.computeSizes(ctx); err != nil {
		return err
	}
	// Discarded rows need no survey, which would take longer.
	if s.Expected != nil || planned.Caps.Discards && s.takesLines(t) {
		return nil
	}
	return s.computeExpected(ctx)
}

// computeExpected passes over the dataset to compute its size and all expected answers.
func (s *Subject) computeExpected(ctx context.Context) error {
	var full []query.Query
	var counted iter.Seq[query.Query]
	for i := range s.Queries {
		if s.Plan.HasMeaning(&s.Queries[i]) {
			full = append(full, s.Queries[i].Early...)
		}
	}
	if s.Plan.Steps.Query && !s.Plan.Experiment.Queries.Verbatim() {
		counted = func(yield func(query.Query) bool) {
			for i := range s.Queries {
				if !s.Plan.HasMeaning(&s.Queries[i]) {
					continue
				}
				for q := range s.Queries[i].All {
					if !yield(q) {
						return
					}
				}
			}
		}
	}
	label := "surveying the dataset"
	if len(full) > 0 {
		label = "computing expected answers"
	}
	for v := range plan.Views {
		held := &s.Viewed[v]
		if held.Dataset == nil {
			continue
		}
		expected, err := s.Pass(ctx, label, held.Dataset, full, counted)
		if err != nil {
			return err
		}
		held.survey = &expected.Survey
		if held.collisions != nil {
			held.survey.KeepOne(held.collisions)
		}
		s.expectAnswers(v, expected)
		if err := s.expectTexts(ctx, v); err != nil {
			return err
		}
		if v == plan.EveryRow {
			s.Expected = expected
			s.keepOne(expected.Survey.Collisions)
		}
	}
	d := s.Record
	d.Rows, d.Metrics, d.RawBytes = s.Expected.Survey.Rows, s.Expected.Survey.Metrics, s.Expected.Survey.RawBytes
	d.Lateness = s.Expected.Survey.Lateness.Seconds()
	if l := s.Expected.Survey.Late; l != nil {
		d.Late = &result.Late{
			Share: l.Share, Least: l.Least, Most: l.Most,
			P50: l.Delays[0], P90: l.Delays[1], P99: l.Delays[2], Max: l.Delays[3],
		}
	}
	return nil
}

// rowsReadBack selects the rows of the dataset to read back.
func (s *Subject) rowsReadBack() oracle.Drawing {
	return oracle.Drawing{Seed: s.Seed, Rows: s.Plan.Catalog.SampleRows}
}

// semantics returns the semantics of the targets. Answers by others are not needed.
func (s *Subject) semantics() []string {
	list := []string{}
	for i := range s.Plan.Targets {
		list = append(list, s.Plan.Targets[i].Driver.Semantics)
	}
	return list
}

// Pass lets the oracle pass over a dataset.
func (s *Subject) Pass(ctx context.Context, label string, d workload.Dataset, full []query.Query, counted iter.Seq[query.Query]) (*oracle.Expectations, error) {
	task := s.Display.Start(label, "rows", s.Rows)
	begin := time.Now()
	defer func() { s.Passed += time.Since(begin) }()
	expected, err := oracle.PassSampling(ctx, d, s.rowsReadBack(), s.semantics(), full, counted, oracle.Progress{
		Rows:      func(rows int) { task.Add(int64(rows)) },
		Evaluated: record.Next(s.Display, &task)("evaluating PromQL for the expected answers", "queries"),
	})
	if err != nil {
		record.Fail(ctx, task, err)
		return nil, err
	}
	task.Finish("")
	return expected, nil
}

// expectAnswers assigns the answers of a pass to the query types.
func (s *Subject) expectAnswers(v plan.View, expected *oracle.Expectations) {
	if s.Plan.Experiment.Queries.Verbatim() {
		return
	}
	counted := map[string][]int64{}
	for _, semantics := range s.semantics() {
		counted[semantics] = expected.CountedBy(semantics)
	}
	n := s.Plan.Experiment.Queries.Count
	fullAt, countedAt := 0, 0
	for i := range s.Queries {
		q := &s.Queries[i]
		if !s.Plan.HasMeaning(q) {
			continue
		}
		q.Expected[v].Full = expected.Full[fullAt : fullAt+len(q.Early)]
		fullAt += len(q.Early)
		if s.Plan.Steps.Query {
			q.Expected[v].Counted = map[string][]int64{}
			for semantics, rows := range counted {
				q.Expected[v].Counted[semantics] = rows[countedAt : countedAt+n]
			}
			countedAt += n
		}
	}
}

// renderOne renders a query whose answer is unknown.
func (s *Subject) renderOne(ctx context.Context, planned *plan.Target, of *plan.TypeQueries, q *query.Query) (engine.Rendered, error) {
	schema := s.Dataset.Schema()
	request, err := planned.Renderer(ctx, driver.DB{}, of)(q, schema)
	if err != nil {
		return engine.Rendered{}, err
	}
	// The oracle keeps digests of rows whose order is irrelevant.
	_, limited := q.Shape.(query.AnyRows)
	whole := !q.Stored() || q.Order() != query.Unordered || limited || engine.KeepsWhole(q, schema)
	table := schema.Table(q.Table)
	return engine.Rendered{ID: q.ID, Request: request, Values: q.Values(), Free: table.FreeRoom(), Columns: q.Columns(table), Whole: whole}, nil
}

// WarmUps returns the queries for warming up connections, different ones in each repeat if there
// are enough.
func (s *Subject) WarmUps(ctx context.Context, planned *plan.Target, q *plan.TypeQueries, repeat int, db driver.DB) ([]engine.Rendered, error) {
	render := s.Renderer(planned, q, db)
	defer render.Close()
	var list []engine.Rendered
	for i := range q.Spare {
		one, err := render.Render(ctx, &q.Spare[(i+repeat*len(q.Spare)/q.Blocks.Repeats)%len(q.Spare)])
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// computeDigest computes the content digest of the loaded or queried rows, if it was requested and
// is not known yet. For a file they are the file's rows.
func (s *Subject) computeDigest(ctx context.Context) error {
	if !s.Plan.Experiment.Digest || s.Record.Digest != "" {
		return nil
	}
	task := s.Display.Start("computing the digest of the dataset", "rows", s.Rows)
	digest, err := generate.DigestOf(ctx, s.loadedDataset(), func(rows int) { task.Add(int64(rows)) })
	if err != nil {
		record.Fail(ctx, task, err)
		return err
	}
	task.Finish(digest)
	s.Record.Digest = digest
	return nil
}

// computeSizes computes the size of the dataset in each requested file format, once.
func (s *Subject) computeSizes(ctx context.Context) error {
	for _, format := range s.Plan.Experiment.InputFormats {
		if _, known := s.Record.FormatBytes[format]; known {
			continue
		}
		task := s.Display.Start("computing the size as a file of "+format, "rows", s.Rows)
		size, err := generate.SizeOf(ctx, s.loadedDataset(), format, func(rows int) { task.Add(int64(rows)) })
		if err != nil {
			record.Fail(ctx, task, err)
			return plan.BadInput(err)
		}
		task.Finish(fmt.Sprintf("%d bytes", size))
		if s.Record.FormatBytes == nil {
			s.Record.FormatBytes = make(map[string]int64)
		}
		s.Record.FormatBytes[format] = size
	}
	return nil
}

// loadedDataset returns the dataset as it is loaded: generated rows, or a file's.
func (s *Subject) loadedDataset() workload.Dataset {
	if s.File == nil {
		return s.Dataset
	}
	if limit := s.Plan.Experiment.Load.Limit; limit > 0 {
		return workload.LimitRows(s.parse(), limit)
	}
	return s.parse()
}
