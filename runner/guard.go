package runner

import (
	"context"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
)

// guardedStore lets no secret into what is stored. It changes what it is
// given, which is what reports then show.
type guardedStore struct {
	Store
	secrets *secret.Redactor
}

// Begin implements Store.
func (g guardedStore) Begin(ctx context.Context, r *result.Run) error {
	g.run(r)
	return g.Store.Begin(ctx, r)
}

// SaveTarget implements Store.
func (g guardedStore) SaveTarget(ctx context.Context, runID string, t *result.Target) error {
	g.target(t)
	return g.Store.SaveTarget(ctx, runID, t)
}

// SaveLoad implements Store.
func (g guardedStore) SaveLoad(ctx context.Context, runID, target string, repeat int, l *result.Load) error {
	g.load(l)
	return g.Store.SaveLoad(ctx, runID, target, repeat, l)
}

// SaveQueries implements Store.
func (g guardedStore) SaveQueries(ctx context.Context, runID, target string, repeat int, q *result.Queries) error {
	g.queries(q)
	return g.Store.SaveQueries(ctx, runID, target, repeat, q)
}

// Finish implements Store.
func (g guardedStore) Finish(ctx context.Context, r *result.Run) error {
	g.run(r)
	return g.Store.Finish(ctx, r)
}

func (g guardedStore) text(texts ...*string) {
	for _, t := range texts {
		*t = g.secrets.Text(*t)
	}
}

func (g guardedStore) run(r *result.Run) {
	g.text(&r.Reason, &r.Dataset.Source)
	for i := range r.Notes {
		g.text(&r.Notes[i])
	}
	for i := range r.Args {
		g.text(&r.Args[i])
	}
	for i := range r.Parameters {
		g.text(&r.Parameters[i].Value)
	}
	for i := range r.Resources {
		g.text(&r.Resources[i].Source, &r.Resources[i].Measure)
		for j := range r.Resources[i].Problems {
			g.text(&r.Resources[i].Problems[j])
		}
	}
	for i := range r.Targets {
		g.target(&r.Targets[i])
	}
}

func (g guardedStore) target(t *result.Target) {
	d := &t.Description
	g.text(&t.Failure, &d.Version, &d.Edition, &d.Location, &d.Durability)
	for name, value := range d.Settings {
		d.Settings[name] = g.secrets.Text(value)
	}
	g.load(t.Load)
	for i := range t.Queries {
		g.queries(&t.Queries[i])
	}
	for _, r := range t.Repeats {
		g.load(r.Load)
		for i := range r.Queries {
			g.queries(&r.Queries[i])
		}
	}
}

func (g guardedStore) load(l *result.Load) {
	if l == nil {
		return
	}
	g.text(&l.Withheld, &l.Unverified)
	if l.Retries != nil {
		g.text(&l.Retries.Cause)
	}
	if l.Mixed != nil {
		g.load(&l.Mixed.Writes)
	}
	for i := range l.Census {
		g.text(&l.Census[i].Problem)
	}
}

func (g guardedStore) queries(q *result.Queries) {
	g.text(&q.Unsupported, &q.Withheld, &q.Cache, &q.Verdict.Difference)
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
