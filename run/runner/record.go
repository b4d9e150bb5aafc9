package runner

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/tsmark/tsmark/result"
)

// record is what a run leaves behind: its document and where it is stored, its operation
// log, the answers that are still to be compared, and what people see meanwhile.
type record struct {
	doc        result.Run
	store      Store
	display    Display
	observer   Observer // nil: nobody looks
	dir        string   // results folder; the run has a folder of its own in it
	tool       result.Tool
	operations operations
}

// keepTarget stores a target as it is known by now.
func (r *record) keepTarget(ctx context.Context, out *result.Target) error {
	return stored(r.store.Append(ctx, &r.doc, result.NewPiece(out, 0, nil, nil)))
}

// keepLoad puts a target's load of a repeat into the record, and stores it.
func (r *record) keepLoad(ctx context.Context, out *result.Target, repeat int, load *result.Load) error {
	out.RepeatOf(repeat).Load = load
	return stored(r.store.Append(ctx, &r.doc, result.NewPiece(out, repeat, load, nil)))
}

// keepQueries puts what was measured of a query type in a repeat into the record,
// in place of what it has of it, and stores it.
func (r *record) keepQueries(ctx context.Context, out *result.Target, repeat int, q *result.Queries) error {
	out.RepeatOf(repeat).Put(q)
	return stored(r.store.Append(ctx, &r.doc, result.NewPiece(out, repeat, nil, q)))
}

// save stores the whole run as it is now.
func (r *record) save(ctx context.Context) error { return stored(r.store.Save(ctx, &r.doc)) }

// remark keeps a deviation for the readers of the run, once.
func (r *record) remark(deviation string) {
	if deviation != "" && !slices.Contains(r.doc.Deviations, deviation) {
		r.doc.Deviations = append(r.doc.Deviations, deviation)
	}
}

// taken is the folder of the answers that are still to be compared.
func (r *record) taken() takenAnswers {
	return takenAnswers(filepath.Join(r.dir, r.doc.ID, "taken-answers"))
}

// goOn says how to continue the run.
func (r *record) goOn() string { return "go on by tsmark resume " + r.doc.ID }
