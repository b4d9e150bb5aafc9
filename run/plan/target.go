package plan

import (
	"context"
	"errors"

	"github.com/tsmark/tsmark/driver"
)

// Target is a target of the experiment with its driver and resolved options.
type Target struct {
	Name                string
	Driver              driver.Driver
	Options             driver.Options
	Caps                driver.Caps       // with these options
	Shown               map[string]string // options without secrets
	Changes             []driver.Change   // likewise
	Profile, Durability string            // names of sets of options; empty: none
	Restart             string            // command that restarts its server; empty: none
	Start, Idle         string            // command that runs its server, and the server's state while other targets are measured; empty: it runs already
	Script              string            // command for the script that Start runs, without a verb; empty: Start runs no script of tsmark's
	StartFor            string            // lifetime of that server
	Server              map[string]string // settings of that server
	Memory              int64             // its memory limit in bytes; 0: none
	Place               string            // place that targets of the run may share; empty: not shared
	ports               map[string]int    // options that are ports of that server, by distance from its first
	Workers, BatchSize  int               // workers that load it, and the rows of their batches
	Twin                string            // the target that it duplicates; empty: none
	Exporter, Metrics   string            // addresses of metrics of its host and server; empty: none
}

// Open opens the target. The error wraps ErrInput unless a server is down: then the path, or the
// data there, is wrong.
func (t *Target) Open(ctx context.Context, env driver.Env) (driver.DB, error) {
	db, err := t.Driver.Open(ctx, env, t.Options)
	if err != nil && ctx.Err() == nil && (t.Caps.Embedded || errors.Is(err, driver.ErrExisting)) {
		return driver.DB{}, BadInput(err)
	}
	return db, err
}

// CrashProblem says why crashes cannot hit a target; empty: they can.
func (t *Target) CrashProblem() string {
	if t.Start != "" || t.Caps.Embedded || t.Restart != "" {
		return ""
	}
	return "runs on a server that tsmark did not start, so tsmark does not crash it: let tsmark start one, as in " + t.Driver.Name + "@VERSION, or give the target a restart command that kills and starts yours"
}
