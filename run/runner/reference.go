package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/internal/scratch"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// referenceDriver is the system that answers reference texts: it is there in most builds
// of tsmark, and needs no server.
const referenceDriver = "duckdb"

// references is the dataset in databases of tsmark's own, whose answers to the reference
// texts of own queries are taken for the right ones. They are open only while they
// answer, so that they take no memory from what is measured.
type references struct {
	kind    driver.Driver
	options driver.Options
	missing string                 // why this tsmark has none; empty: it has, or nobody has looked yet
	looked  bool                   // somebody has
	folders [views]*scratch.Folder // with the dataset as some targets hold it; nil: not loaded yet
}

// byReferenceText reports whether the right answers of a type are those of its reference.
func (s *subject) byReferenceText(q *typeQueries) bool {
	if q.written == nil || q.written.Reference == "" || s.plan.experiment.Queries.Verbatim() {
		return false
	}
	r := &s.references
	if !r.looked {
		r.looked = true
		if err := r.look(s); err != nil {
			r.missing = err.Error()
		}
	}
	return r.missing == ""
}

// look finds out whether there can be references, by making a database.
func (r *references) look(s *subject) (err error) {
	if r.kind, err = s.plan.catalog.Driver(referenceDriver); err != nil {
		return err
	}
	if r.options, err = r.kind.Resolve(nil); err != nil {
		return err
	}
	folder, err := scratch.New(s.scratch, "reference")
	if err != nil {
		return err
	}
	db, err := r.kind.Open(context.Background(), driver.Env{Dir: folder.Path(), Create: true}, r.options) // which waits for nobody
	if err == nil {
		err = db.Close()
	}
	return errors.Join(err, folder.Close())
}

// expects reports whether the right answers of a type are known.
func (s *subject) expects(q *typeQueries) bool { return s.plan.hasMeaning(q) || s.byReferenceText(q) }

// noReference is the result.Queries.NoReference of a type.
func (s *subject) noReference(q *typeQueries) string {
	if q.written == nil || q.written.Reference == "" || s.byReferenceText(q) {
		return ""
	}
	return s.references.missing
}

// by is the result.Queries.By of a type.
func (s *subject) by(q *typeQueries) string {
	switch {
	case s.byReferenceText(q):
		return result.ByReference
	case s.agrees(q):
		return result.ByAgreement
	}
	return ""
}

// expectTexts has references answer what is compared before anything is measured.
func (s *subject) expectTexts(ctx context.Context, v view) (err error) {
	for i := range s.queries {
		q := &s.queries[i]
		if q.written == nil {
			continue
		}
		if q.expected[v].full, err = s.byReference(ctx, v, q, q.early); err != nil {
			return err
		}
	}
	return nil
}

// byReference has a reference answer queries of a type; of a type without one it returns
// nothing.
func (s *subject) byReference(ctx context.Context, v view, q *typeQueries, queries []query.Query) (expected []oracle.Expectation, err error) {
	if len(queries) == 0 || !s.byReferenceText(q) {
		return nil, nil
	}
	template, err := ownqueries.ParseTemplate(q.written.Reference)
	if err != nil {
		return nil, err
	}
	if err := s.loadReference(ctx, v); err != nil {
		return nil, fmt.Errorf("loading DuckDB for the reference texts of own queries: %w", err)
	}
	r := &s.references
	db, err := r.kind.Open(ctx, driver.Env{Dir: r.folders[v].Path()}, r.options)
	if err != nil {
		return nil, fmt.Errorf("opening DuckDB for the reference texts of own queries: %w", err)
	}
	defer db.Close() // reading only
	querier, err := db.NewQuerier(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("opening DuckDB for the reference texts of own queries: %w", err)
	}
	defer querier.Close() // reading only
	task := s.display.Start("answering "+q.queryType.Name+" by its reference", "answers", int64(len(queries)))
	for i := range queries {
		text, err := template.Fill(&queries[i], r.kind.Literals(r.options))
		if err != nil {
			return nil, err
		}
		right := &query.Answer{}
		if _, err := querier.Do(ctx, driver.Request{Text: text}, right); err != nil {
			fail(ctx, task, err)
			if ctx.Err() != nil {
				return nil, err
			}
			return nil, badInput(s.plan.experiment.Problem(s.plan.ownPath(q.queryType.Name)+".reference", "DuckDB does not run it: %s", err))
		}
		expected = append(expected, oracle.Expectation{Query: queries[i].WithAnswer(right), Answer: right, Rows: int64(len(right.Rows))})
		task.Add(1)
	}
	task.Finish("")
	return expected, nil
}

// ownPath is the path of the declaration of a query type in the experiment.
func (p *Plan) ownPath(name string) string {
	return fmt.Sprintf("queries.own[%d]", slices.IndexFunc(p.experiment.Queries.Own, func(q ownqueries.Query) bool { return q.Name == name }))
}

// referenceBatch is how many rows are written at once.
const referenceBatch = 10_000

// loadReference loads the dataset as some targets hold it, once.
func (s *subject) loadReference(ctx context.Context, v view) (err error) {
	r := &s.references
	if r.folders[v] != nil {
		return nil
	}
	folder, err := scratch.New(s.scratch, "reference")
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
	dataset := s.viewed[v].dataset
	if err := db.Create(ctx, dataset.Schema()); err != nil {
		return err
	}
	task := s.display.Start("loading the reference", "rows", s.rows)
	_, err = engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: referenceBatch}, dataset, db, func(n int) { task.Add(int64(n)) })
	if err != nil {
		fail(ctx, task, err)
		return err
	}
	task.Finish("")
	return nil
}

// drop removes the databases.
func (r *references) drop() error {
	var errs []error
	for v, folder := range r.folders {
		if folder != nil {
			errs = append(errs, folder.Close())
			r.folders[v] = nil
		}
	}
	return errors.Join(errs...)
}
