package runner

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
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
)

// subject is what a run loads and queries: a dataset and the queries that are
// drawn for it, and what the oracle knows of both. It knows nothing of targets but
// how they hold rows.
type subject struct {
	plan    *Plan
	display Display
	scratch string          // folder where one of its own can be made for a while
	input   io.Reader       // standard input, where the rows come from there
	record  *result.Dataset // what the run tells of it
	seed    string          // of the rows that are read back: result.Run.CheckSeed

	texted   workload.Texted         // where the texts are another benchmark's; nil: the workload has none
	rows     int64                   // at most; 0: nobody knows
	dataset  workload.Dataset        // nil: nobody knows it yet
	owner    func(*series.Batch) int // the worker that writes a batch; nil: whoever is free
	viewed   [views]viewed
	queries  []typeQueries
	expected *oracle.Expectations // once the dataset has been passed over
	file     *ingest.Source       // where the rows come from; nil: they are generated
	parsed   *ingest.Dataset      // the file's rows, once a target needed them
	passed   time.Duration        // that passes of the oracle have taken

	references references // that answer texts
}

// schema is the dataset's; nil: nobody knows it.
func (s *subject) schema() *series.Schema {
	if s.dataset == nil {
		return nil
	}
	return s.dataset.Schema()
}

// prepare fixes the dataset and draws the queries, by a seed of theirs. The check's seed
// chooses which answers are checked before anything is measured.
func (s *subject) prepare(spec workload.Spec, checkSeed string, querySeed int64) error {
	w, types, err := s.plan.dataset(spec)
	if err != nil {
		return err
	}
	drawing := spec
	drawing.QuerySeed = querySeed
	if s.queries, err = s.plan.draw(w, types, drawing, s.plan.experiment.Queries.PerType(), checkSeed); err != nil {
		return err
	}
	d, err := w.Dataset(spec)
	if err != nil {
		return s.plan.specProblem(err)
	}
	if f, ok := d.(workload.FromFiles); ok {
		reread := f.Reread()
		s.record.Files, s.record.Reread = f.Files(), &reread
	}
	s.texted, _ = w.(workload.Texted)
	about := w.Describe(spec)
	s.rows = about.RowsAtMost
	if spec.Limit >= s.rows {
		spec.Limit = 0 // all of it: the same dataset as without a limit
	}
	if spec.Limit > 0 {
		s.rows = spec.Limit
	}
	if d, err = s.deal(d); err != nil {
		return err
	}
	s.dataset = d
	if spec.Limit > 0 {
		s.dataset = workload.LimitRows(d, spec.Limit)
	}
	if err := s.setViews(spec, latestOf(d), about.Repeats); err != nil {
		return err
	}
	s.record.Spec, s.record.Fingerprint, s.record.Series = spec, workload.Fingerprint(w, spec), d.Schema().Series
	return nil
}

// deal has each of several writers write series of its own, where the dataset
// knows how and its rows are generated.
func (s *subject) deal(d workload.Dataset) (workload.Dataset, error) {
	load := &s.plan.experiment.Load
	dealt, ok := d.(workload.Dealt)
	if !ok || !s.plan.steps.Load || load.Workers < 2 || s.file != nil {
		return d, nil
	}
	d, err := dealt.Deal(load.Workers, load.BatchSize)
	if err != nil {
		return nil, s.plan.experiment.Problem("load.workers", "%v", err)
	}
	s.owner = func(b *series.Batch) int { return dealt.Client(b.Runs[0].Series[0], load.Workers) }
	return d, nil
}

// drawn is what a run tells of the queries.
func (s *subject) drawn() []result.QuerySet {
	var list []result.QuerySet
	for _, q := range s.queries {
		list = append(list, q.record)
	}
	return list
}

// queriesOf returns those of a type that the run has.
func (s *subject) queriesOf(queryType string) *typeQueries {
	for i := range s.queries {
		if s.queries[i].queryType.Name == queryType {
			return &s.queries[i]
		}
	}
	return nil
}

// learn finds out what the dataset holds and which answers are right, unless that
// is known. It takes as long as a pass over all rows, so no load waits for it but
// that of a mixed phase, whose first part is a share of the rows.
func (s *subject) learn(ctx context.Context, t driver.DB, planned *plannedTarget) error {
	if err := s.digest(ctx); err != nil {
		return err
	}
	if err := s.sizes(ctx); err != nil {
		return err
	}
	// What is discarded as it is needs no survey, which would take longer.
	if s.expected != nil || planned.caps.Discards && s.asLines(t) {
		return nil
	}
	return s.expect(ctx)
}

// expect passes over the dataset for its size and all expected answers.
func (s *subject) expect(ctx context.Context) error {
	var full []query.Query
	var counted iter.Seq[query.Query]
	for i := range s.queries {
		if s.plan.hasMeaning(&s.queries[i]) {
			full = append(full, s.queries[i].early...)
		}
	}
	if s.plan.steps.Query && !s.plan.experiment.Queries.Verbatim() {
		counted = func(yield func(query.Query) bool) {
			for i := range s.queries {
				if !s.plan.hasMeaning(&s.queries[i]) {
					continue
				}
				for q := range s.queries[i].all {
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
	for v := range views {
		held := &s.viewed[v]
		if held.dataset == nil {
			continue
		}
		expected, err := s.pass(ctx, label, held.dataset, full, counted)
		if err != nil {
			return err
		}
		held.survey = &expected.Survey
		s.expectAnswers(v, expected)
		if err := s.expectTexts(ctx, v); err != nil {
			return err
		}
		if v == everyRow {
			s.expected = expected
		}
	}
	d := s.record
	d.Rows, d.Metrics, d.RawBytes = s.expected.Survey.Rows, s.expected.Survey.Metrics, s.expected.Survey.RawBytes
	d.Lateness = s.expected.Survey.Lateness.Seconds()
	if l := s.expected.Survey.Late; l != nil {
		d.Late = &result.Late{
			Share: l.Share, Least: l.Least, Most: l.Most,
			P50: l.Delays[0], P90: l.Delays[1], P99: l.Delays[2], Max: l.Delays[3],
		}
	}
	return nil
}

// rowsReadBack says which rows of the dataset are read back.
func (s *subject) rowsReadBack() oracle.Drawing {
	return oracle.Drawing{Seed: s.seed, Rows: s.plan.catalog.SampleRows}
}

// pass has the oracle pass over a dataset.
func (s *subject) pass(ctx context.Context, label string, d workload.Dataset, full []query.Query, counted iter.Seq[query.Query]) (*oracle.Expectations, error) {
	task := s.display.Start(label, "rows", s.rows)
	begin := time.Now()
	defer func() { s.passed += time.Since(begin) }()
	expected, err := oracle.PassSampling(ctx, d, s.rowsReadBack(), full, counted, func(rows int) { task.Add(int64(rows)) })
	if err != nil {
		fail(ctx, task, err)
		return nil, err
	}
	task.Finish("")
	return expected, nil
}

// expectAnswers deals the answers of a pass to the query types.
func (s *subject) expectAnswers(v view, expected *oracle.Expectations) {
	if s.plan.experiment.Queries.Verbatim() {
		return
	}
	n := s.plan.experiment.Queries.PerType()
	fullAt, countedAt := 0, 0
	for i := range s.queries {
		q := &s.queries[i]
		if !s.plan.hasMeaning(q) {
			continue
		}
		q.expected[v].full = expected.Full[fullAt : fullAt+len(q.early)]
		fullAt += len(q.early)
		if s.plan.steps.Query {
			q.expected[v].counted = expected.Counted[countedAt : countedAt+n]
			countedAt += n
		}
	}
}

// renderOne renders one query, whose answer is nothing known of.
func (s *subject) renderOne(ctx context.Context, planned *plannedTarget, of *typeQueries, q *query.Query) (engine.Rendered, error) {
	schema := s.dataset.Schema()
	request, err := planned.renderer(ctx, driver.DB{}, of)(q, schema)
	if err != nil {
		return engine.Rendered{}, err
	}
	// The oracle keeps digests of those rows whose order does not matter.
	_, limited := q.Shape.(query.AnyRows)
	whole := !q.Stored() || q.Order() != query.Unordered || limited || engine.KeepsWhole(q, schema)
	table := schema.Table(q.Table)
	return engine.Rendered{ID: q.ID, Request: request, Values: q.Values(), Free: table.FreeRoom(), Columns: q.Columns(table), Whole: whole}, nil
}

// warmUps returns the queries that connections are warmed up with, other ones in
// each repeat in as far as there are such.
func (s *subject) warmUps(ctx context.Context, planned *plannedTarget, q *typeQueries, repeat int, db driver.DB) ([]engine.Rendered, error) {
	render := s.renderer(planned, q, db)
	defer render.close()
	var list []engine.Rendered
	for i := range q.spare {
		one, err := render.one(ctx, &q.spare[(i+repeat*len(q.spare)/q.blocks.repeats)%len(q.spare)])
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// digest computes the content digest of what is loaded or queried, where it
// was asked for and is not known yet. Rows of a file are those of the file.
func (s *subject) digest(ctx context.Context) error {
	if !s.plan.experiment.Digest || s.record.Digest != "" {
		return nil
	}
	task := s.display.Start("computing the digest of the dataset", "rows", s.rows)
	digest, err := generate.DigestOf(ctx, s.loaded(), func(rows int) { task.Add(int64(rows)) })
	if err != nil {
		fail(ctx, task, err)
		return err
	}
	task.Finish(digest)
	s.record.Digest = digest
	return nil
}

// sizes computes how large the dataset is as a file of each format that was asked for,
// once.
func (s *subject) sizes(ctx context.Context) error {
	for _, format := range s.plan.experiment.InputFormats {
		if _, known := s.record.FormatBytes[format]; known {
			continue
		}
		task := s.display.Start("computing the size as a file of "+format, "rows", s.rows)
		size, err := generate.SizeOf(ctx, s.loaded(), format, func(rows int) { task.Add(int64(rows)) })
		if err != nil {
			fail(ctx, task, err)
			return badInput(err)
		}
		task.Finish(fmt.Sprintf("%d bytes", size))
		if s.record.FormatBytes == nil {
			s.record.FormatBytes = make(map[string]int64)
		}
		s.record.FormatBytes[format] = size
	}
	return nil
}

// loaded is the dataset as it is loaded: what was generated, or a file's rows.
func (s *subject) loaded() workload.Dataset {
	if s.file == nil {
		return s.dataset
	}
	if limit := s.plan.experiment.Load.Limit; limit > 0 {
		return workload.LimitRows(s.parse(), limit)
	}
	return s.parse()
}
