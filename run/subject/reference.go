package subject

import (
	"context"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/internal/scratch"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// ComparesSystems reports whether answers of a type can only be compared between systems: the
// correct ones are unknown, and targets of several systems have a text for it.
func (s *Subject) ComparesSystems(q *plan.TypeQueries) bool {
	if q.OwnText == nil || s.Plan.Experiment.Queries.Verbatim() || s.hasReference(q) {
		return false
	}
	first := ""
	for i := range s.Plan.Targets {
		t := &s.Plan.Targets[i]
		if l := t.Driver.LiteralsOf(t.Options); l != nil && q.OwnText.IsFor(t.Driver.Name, l) {
			if first != "" && first != t.Driver.Name {
				return true
			}
			first = t.Driver.Name
		}
	}
	return false
}

// referenceDriver is the system that answers reference texts: most builds of tsmark include it, and
// it needs no server.
const referenceDriver = "duckdb"

// references is the dataset in databases of tsmark's own. Their answers to the reference texts of
// own queries are the expected answers. They are open only while they answer, so that they use no
// memory during measurements.
type references struct {
	kind    driver.Driver
	options driver.Options
	missing string                      // why this tsmark has none; empty: it has them, or this was not checked yet
	looked  bool                        // it was checked
	folders [plan.Views]*scratch.Folder // with the dataset in each view of the targets; nil: not loaded yet
}

// hasReference reports whether a reference provides the expected answers of a type.
func (s *Subject) hasReference(q *plan.TypeQueries) bool {
	if q.OwnText == nil || q.OwnText.Reference == "" || s.Plan.Experiment.Queries.Verbatim() {
		return false
	}
	r := &s.References
	if !r.looked {
		r.looked = true
		if err := r.look(s); err != nil {
			r.missing = err.Error()
		}
	}
	return r.missing == ""
}

// look checks whether references are possible, by creating a database.
func (r *references) look(s *Subject) (err error) {
	if r.kind, err = s.Plan.Catalog.Driver(referenceDriver); err != nil {
		return err
	}
	if r.options, err = r.kind.Resolve(nil); err != nil {
		return err
	}
	folder, err := scratch.New(s.Scratch, "reference")
	if err != nil {
		return err
	}
	db, err := r.kind.Open(context.Background(), driver.Env{Dir: folder.Path(), Create: true}, r.options) // an embedded database does not wait
	if err == nil {
		err = db.Close()
	}
	return errors.Join(err, folder.Close())
}

// HasExpected reports whether the expected answers of a type are known.
func (s *Subject) HasExpected(q *plan.TypeQueries) bool {
	return s.Plan.HasMeaning(q) || s.hasReference(q)
}

// MissingReference is the result.Queries.NoReference of a type.
func (s *Subject) MissingReference(q *plan.TypeQueries) string {
	if q.OwnText == nil || q.OwnText.Reference == "" || s.hasReference(q) {
		return ""
	}
	return s.References.missing
}

// VerifiedBy is the result.Queries.By of a type.
func (s *Subject) VerifiedBy(q *plan.TypeQueries) string {
	switch {
	case s.hasReference(q):
		return result.ByReference
	case s.ComparesSystems(q):
		return result.ByAgreement
	}
	return ""
}

// expectTexts lets references answer the queries that are compared before the measurement.
func (s *Subject) expectTexts(ctx context.Context, v plan.View) (err error) {
	for i := range s.Queries {
		q := &s.Queries[i]
		if q.OwnText == nil {
			continue
		}
		if q.Expected[v].Full, err = s.AnswerByReference(ctx, v, q, q.Early); err != nil {
			return err
		}
	}
	return nil
}

// AnswerByReference lets a reference answer queries of a type; without a reference it returns
// nothing.
func (s *Subject) AnswerByReference(ctx context.Context, v plan.View, q *plan.TypeQueries, queries []query.Query) (expected []oracle.Expectation, err error) {
	if len(queries) == 0 || !s.hasReference(q) {
		return nil, nil
	}
	template, err := ownqueries.ParseTemplate(q.OwnText.Reference)
	if err != nil {
		return nil, err
	}
	if err := s.loadReference(ctx, v); err != nil {
		return nil, fmt.Errorf("loading DuckDB for the reference texts of own queries: %w", err)
	}
	r := &s.References
	db, err := r.kind.Open(ctx, driver.Env{Dir: r.folders[v].Path()}, r.options)
	if err != nil {
		return nil, fmt.Errorf("opening DuckDB for the reference texts of own queries: %w", err)
	}
	defer db.Close() // only used for reading
	querier, err := db.NewQuerier(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("opening DuckDB for the reference texts of own queries: %w", err)
	}
	defer querier.Close() // only used for reading
	task := s.Display.Start("answering "+q.Type.Name+" by its reference", "answers", int64(len(queries)))
	for i := range queries {
		text, err := template.Fill(&queries[i], r.kind.Literals(r.options))
		if err != nil {
			return nil, err
		}
		right := &query.Answer{}
		if _, err := querier.Do(ctx, driver.Request{Text: text}, right); err != nil {
			record.Fail(ctx, task, err)
			if ctx.Err() != nil {
				return nil, err
			}
			return nil, plan.BadInput(s.Plan.Experiment.Problem(s.Plan.OwnPath(q.Type.Name)+".reference", "DuckDB does not run it: %s", err))
		}
		expected = append(expected, oracle.Expectation{Query: queries[i].WithAnswer(right), Answer: right, Rows: int64(len(right.Rows))})
		task.Add(1)
	}
	task.Finish("")
	return expected, nil
}

// referenceBatch is the number of rows per batch.
const referenceBatch = 10_000

// loadReference loads a view of the dataset, once.
func (s *Subject) loadReference(ctx context.Context, v plan.View) (err error) {
	r := &s.References
	if r.folders[v] != nil {
		return nil
	}
	folder, err := scratch.New(s.Scratch, "reference")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, folder.Close())
			return
		}
		r.folders[v] = folder
	}()
	db, err := r.kind.Open(ctx, driver.Env{Dir: folder.Path(), Create: true}, r.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	dataset := s.Viewed[v].Dataset
	if err := db.Create(ctx, dataset.Schema()); err != nil {
		return err
	}
	task := s.Display.Start("loading the reference", "rows", s.Rows)
	_, err = engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: referenceBatch}, dataset, db, func(n int) { task.Add(int64(n)) })
	if err != nil {
		record.Fail(ctx, task, err)
		return err
	}
	task.Finish("")
	return nil
}

// Close removes the databases.
func (r *references) Close() error {
	var errs []error
	for v, folder := range r.folders {
		if folder != nil {
			errs = append(errs, folder.Close())
			r.folders[v] = nil
		}
	}
	return errors.Join(errs...)
}
