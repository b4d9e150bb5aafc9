package record

import (
	"context"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
)

// GuardedStore removes secrets from every record before it is stored, and thus before it is shown
// or exported: it checks all texts, because a server may influence any of them. It modifies its
// arguments, which reports then show.
type GuardedStore struct {
	Store
	Secrets *secret.Redactor
}

// Begin implements Store.
func (g GuardedStore) Begin(ctx context.Context, r *result.Run) error {
	g.Secrets.Hide(r)
	return g.Store.Begin(ctx, r)
}

// Append implements Store.
func (g GuardedStore) Append(ctx context.Context, r *result.Run, p *result.Piece) error {
	g.Secrets.Hide(r)
	g.Secrets.Hide(p)
	return g.Store.Append(ctx, r, p)
}

// Save implements Store.
func (g GuardedStore) Save(ctx context.Context, r *result.Run) error {
	g.Secrets.Hide(r)
	return g.Store.Save(ctx, r)
}

// BeginSweep implements Store.
func (g GuardedStore) BeginSweep(ctx context.Context, s *result.Sweep) error {
	g.Secrets.Hide(s)
	return g.Store.BeginSweep(ctx, s)
}

// GuardedDisplay hides secrets.
type GuardedDisplay struct {
	Display
	Secrets *secret.Redactor
}

// Start implements Display.
func (g GuardedDisplay) Start(label, unit string, total int64) Task {
	return guardedTask{g.Display.Start(g.Secrets.Text(label), unit, total), g.Secrets}
}

type guardedTask struct {
	Task
	secrets *secret.Redactor
}

// Finish implements Task.
func (g guardedTask) Finish(note string) { g.Task.Finish(g.secrets.Text(note)) }

// Fail implements Task.
func (g guardedTask) Fail(note string) { g.Task.Fail(g.secrets.Text(note)) }
