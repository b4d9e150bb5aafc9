// Package record keeps what a run leaves behind: its document in a store, its operation log,
// the answers that are still to be compared, and what people see while it runs.
package record

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/tsmark/tsmark/result"
)

// Record is what a run leaves behind: its document and where it is stored, its operation
// log, the answers that are still to be compared, and what people see meanwhile.
type Record struct {
	Doc      result.Run
	Store    Store
	Display  Display
	Observer Observer // nil: nobody looks
	Dir      string   // results folder; the run has a folder of its own in it
	Tool     result.Tool
	Log      OperationLog
}

// KeepTarget stores a target as it is known by now.
func (r *Record) KeepTarget(ctx context.Context, out *result.Target) error {
	return StoreError(r.Store.Append(ctx, &r.Doc, result.NewPiece(out, 0, nil, nil)))
}

// KeepLoad puts a target's load of a repeat into the record, and stores it.
func (r *Record) KeepLoad(ctx context.Context, out *result.Target, repeat int, load *result.Load) error {
	out.RepeatOf(repeat).Load = load
	return StoreError(r.Store.Append(ctx, &r.Doc, result.NewPiece(out, repeat, load, nil)))
}

// KeepQueries puts what was measured of a query type in a repeat into the record,
// in place of what it has of it, and stores it.
func (r *Record) KeepQueries(ctx context.Context, out *result.Target, repeat int, q *result.Queries) error {
	out.RepeatOf(repeat).Put(q)
	return StoreError(r.Store.Append(ctx, &r.Doc, result.NewPiece(out, repeat, nil, q)))
}

// Save stores the whole run as it is now.
func (r *Record) Save(ctx context.Context) error { return StoreError(r.Store.Save(ctx, &r.Doc)) }

// Remark keeps a deviation for the readers of the run, once.
func (r *Record) Remark(deviation string) {
	if deviation != "" && !slices.Contains(r.Doc.Deviations, deviation) {
		r.Doc.Deviations = append(r.Doc.Deviations, deviation)
	}
}

// Answers is the folder of the answers that are still to be compared.
func (r *Record) Answers() Answers {
	return Answers(filepath.Join(r.Dir, r.Doc.ID, "taken-answers"))
}

// ResumeHint says how to continue the run.
func (r *Record) ResumeHint() string { return "go on by tsmark resume " + r.Doc.ID }
