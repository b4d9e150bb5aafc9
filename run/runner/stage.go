package runner

import (
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
