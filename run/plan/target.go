package plan

import (
	"context"
	"errors"

	"github.com/tsmark/tsmark/driver"
)

type Target struct {
	Name                string
	Driver              driver.Driver
	Options             driver.Options
	Caps                driver.Caps       // with these options
	Shown               map[string]string // options without secrets
	Changes             []driver.Change   // likewise
	Profile, Durability string            // names of sets of options; empty: none
	Restart             string            // command that restarts its server; empty: none
	Start, Idle         string            // command that runs its server, and what becomes of that between turns; empty: it runs already
	StartFor            string            // what that server is started for
	Memory              int64             // bytes that it may use; 0: as many as there are
	Place               string            // place that targets of the run may share; empty: it has one of its own
	ports               map[string]int    // options that are ports of that server, by how far they are from its first
	Twin                string            // the target that it is once more; empty: none
	Exporter, Metrics   string            // addresses of what its host and server tell of themselves; empty: none
}

// Open opens the target. The error wraps ErrInput unless a server is down: then the path, or
// what is there, is not right.
func (t *Target) Open(ctx context.Context, env driver.Env) (driver.DB, error) {
	db, err := t.Driver.Open(ctx, env, t.Options)
	if err != nil && ctx.Err() == nil && (t.Caps.Embedded || errors.Is(err, driver.ErrExisting)) {
		return driver.DB{}, BadInput(err)
	}
	return db, err
}
