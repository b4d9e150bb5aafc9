// Package record manages the output of a run: its document in a store, its operation log, the
// answers still to be compared, and the progress display.
package record

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/tsmark/tsmark/result"
)

// Record is the output of a run: its document with the store, its operation log, the answers still
// to be compared, and the progress display.
type Record struct {
	Doc      result.Run
	Store    Store
	Display  Display
	Observer Observer // nil: none
	Dir      string   // results folder; the run has a folder of its own in it
	Tool     result.Tool
	Log      OperationLog
}

// KeepTarget stores the current record of a target.
func (r *Record) KeepTarget(ctx context.Context, out *result.Target) error {
	return StoreError(r.Store.Append(ctx, &r.Doc, result.NewPiece(out, 0, nil, nil)))
}

// KeepLoad adds a target's load in a repeat to the record, and stores it.
func (r *Record) KeepLoad(ctx context.Context, out *result.Target, repeat int, load *result.Load) error {
	out.RepeatOf(repeat).Load = load
	return StoreError(r.Store.Append(ctx, &r.Doc, result.NewPiece(out, repeat, load, nil)))
}

// KeepQueries adds the measurement of a query type in a repeat to the record, replacing an earlier
// one, and stores it.
func (r *Record) KeepQueries(ctx context.Context, out *result.Target, repeat int, q *result.Queries) error {
	out.RepeatOf(repeat).Put(q)
	return StoreError(r.Store.Append(ctx, &r.Doc, result.NewPiece(out, repeat, nil, q)))
}

// Save stores the whole run.
func (r *Record) Save(ctx context.Context) error { return StoreError(r.Store.Save(ctx, &r.Doc)) }

// Remark records a deviation for the readers of the run, once.
func (r *Record) Remark(deviation string) {
	if deviation != "" && !slices.Contains(r.Doc.Deviations, deviation) {
		r.Doc.Deviations = append(r.Doc.Deviations, deviation)
	}
}

// Answers returns the folder of the answers still to be compared.
func (r *Record) Answers() Answers {
	return Answers(filepath.Join(r.Dir, r.Doc.ID, "taken-answers"))
}

// ResumeHint says how to continue the run.
func (r *Record) ResumeHint() string { return "go on by tsmark resume " + r.Doc.ID }
