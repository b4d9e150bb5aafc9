package limit

import (
	"context"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// What follows is for drivers that keep the mark themselves, and goes with the
// last of them.

// ReadMark implements session.Bridged.
func (t *limited) ReadMark(ctx context.Context) (session.Mark, error) {
	b, _ := driver.As[session.Bridged](t.DB)
	return call(ctx, t.limits.statement(), "reading the mark", b.ReadMark, nil)
}

// Prepare implements session.Bridged.
func (t *limited) Prepare(ctx context.Context, s *series.Schema, m session.Mark) error {
	b, _ := driver.As[session.Bridged](t.DB)
	return run(ctx, t.limits.step(), "dropping and creating tables", func(ctx context.Context) error { return b.Prepare(ctx, s, m) })
}

// WriteMark implements session.Bridged.
func (t *limited) WriteMark(ctx context.Context, m session.Mark) error {
	b, _ := driver.As[session.Bridged](t.DB)
	return run(ctx, t.limits.statement(), "writing the mark", func(ctx context.Context) error { return b.WriteMark(ctx, m) })
}

// InspectSchema implements session.Bridged.
func (t *limited) InspectSchema(ctx context.Context, s *series.Schema) error {
	b, _ := driver.As[session.Bridged](t.DB)
	return run(ctx, t.limits.statement(), "looking at what is there", func(ctx context.Context) error { return b.InspectSchema(ctx, s) })
}

// Foreign implements session.BridgedClearer.
func (t *limited) Foreign(ctx context.Context, s *series.Schema) ([]string, error) {
	b, _ := driver.As[session.BridgedClearer](t.DB)
	return call(ctx, t.limits.statement(), "listing what is there", func(ctx context.Context) ([]string, error) { return b.Foreign(ctx, s) }, nil)
}

// Clear implements session.BridgedClearer.
func (t *limited) Clear(ctx context.Context, s *series.Schema, named []string) error {
	b, _ := driver.As[session.BridgedClearer](t.DB)
	return run(ctx, t.limits.step(), "dropping what others left", func(ctx context.Context) error { return b.Clear(ctx, s, named) })
}
