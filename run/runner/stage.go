package runner

import (
	"context"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/session"
)

// stage is what all stages of a run have: what they are about, who watches them,
// the record that they fill in, and where it is stored. A stage is given a target
// that is open, and what it found stands in the record when it returns; it calls
// no other stage, and nothing of the execution that goes from one to the next.
type stage struct {
	*Runner
	*subject
	*watch
	run        result.Run
	operations operations
	servers    servers
	force      session.Force
}

// keepTarget stores a target as it is known by now.
func (x *stage) keepTarget(ctx context.Context, out *result.Target) error {
	return stored(x.Store.Append(ctx, &x.run, result.NewPiece(out, 0, nil, nil)))
}

// keepLoad stores a target with its load of a repeat.
func (x *stage) keepLoad(ctx context.Context, out *result.Target, repeat int) error {
	return stored(x.Store.Append(ctx, &x.run, result.NewPiece(out, repeat, out.RepeatOf(repeat).Load, nil)))
}

// keepQueries stores a target with what was measured of a query type in a repeat.
func (x *stage) keepQueries(ctx context.Context, out *result.Target, repeat int, q *result.Queries) error {
	return stored(x.Store.Append(ctx, &x.run, result.NewPiece(out, repeat, nil, q)))
}

// turn is a target that is open for a cell of the run.
type turn struct {
	cell
	planned *plannedTarget
	env     driver.Env
	db      driver.DB
	mark    session.Mark   // of what it holds, or of what is to be loaded
	out     *result.Target // what the run tells of it
}

// loadStage loads a target, settles it and counts what it holds, and in a mixed
// phase queries it meanwhile.
type loadStage struct{ *stage }

// checkStage counts what a target holds where this run did not load it, and
// compares answers before anything is measured. It notes which types are slow.
type checkStage struct {
	*stage
	slow map[slowType]bool // one query took longer than the time box of a repeat
}

// queryStage measures the queries of a target in a repeat, and keeps the answers
// that it takes.
type queryStage struct {
	*stage
	slow map[slowType]bool
}

// compareStage compares the answers that were taken in a part of the run.
type compareStage struct {
	*stage
	compared [views]map[takenQuery]*oracle.Expectation // nil: not worked out yet
}
