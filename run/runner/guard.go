package runner

import (
	"context"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
)

// guardedStore lets no secret into what is stored, whatever part of it a server
// had a say in. It changes what it is given, which is what reports then show.
type guardedStore struct {
	Store
	secrets *secret.Redactor
}

// Begin implements Store.
func (g guardedStore) Begin(ctx context.Context, r *result.Run) error {
	g.secrets.Hide(r)
	return g.Store.Begin(ctx, r)
}

// SaveTarget implements Store.
func (g guardedStore) SaveTarget(ctx context.Context, runID string, t *result.Target) error {
	g.secrets.Hide(t)
	return g.Store.SaveTarget(ctx, runID, t)
}

// SaveLoad implements Store.
func (g guardedStore) SaveLoad(ctx context.Context, runID, target string, repeat int, l *result.Load) error {
	g.secrets.Hide(l)
	return g.Store.SaveLoad(ctx, runID, target, repeat, l)
}

// SaveQueries implements Store.
func (g guardedStore) SaveQueries(ctx context.Context, runID, target string, repeat int, q *result.Queries) error {
	g.secrets.Hide(q)
	return g.Store.SaveQueries(ctx, runID, target, repeat, q)
}

// Finish implements Store.
func (g guardedStore) Finish(ctx context.Context, r *result.Run) error {
	g.secrets.Hide(r)
	return g.Store.Finish(ctx, r)
}

// guardedDisplay shows no secret.
type guardedDisplay struct {
	Display
	secrets *secret.Redactor
}

// Start implements Display.
func (g guardedDisplay) Start(label, unit string, total int64) Task {
	return guardedTask{g.Display.Start(g.secrets.Text(label), unit, total), g.secrets}
}

type guardedTask struct {
	Task
	secrets *secret.Redactor
}

// Done implements Task.
func (g guardedTask) Done(note string) { g.Task.Done(g.secrets.Text(note)) }

// Fail implements Task.
func (g guardedTask) Fail(note string) { g.Task.Fail(g.secrets.Text(note)) }
