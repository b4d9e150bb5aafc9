package runner

import (
	"context"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// stage is what all stages of a run have: what they are about, who watches them,
// the record, and where it is stored. A stage is given a target that is open. What
// it measured enters the record once, when it is finished, and is not changed in
// it. A stage calls no other stage, and nothing of the execution that goes from one
// to the next.
type stage struct {
	*Runner
	*subject
	*watch
	run        result.Run
	operations operations
	servers    servers
	force      session.Force
	ceilings   map[string]result.Calibration // of agents, by name
}

// turn is a target that is open for a cell of the run.
type turn struct {
	cell
	planned *plannedTarget
	env     driver.Env
	db      driver.DB
	mark    session.Mark   // of what it holds, or of what is to be loaded
	adopted bool           // tsmark did not load what it holds
	out     *result.Target // what the run tells of it
}

// keepTarget stores a target as it is known by now.
func (x *stage) keepTarget(ctx context.Context, out *result.Target) error {
	return stored(x.Store.Append(ctx, &x.run, result.NewPiece(out, 0, nil, nil)))
}

// keepLoad puts a target's load of a repeat into the record, and stores it.
func (x *stage) keepLoad(ctx context.Context, out *result.Target, repeat int, load *result.Load) error {
	out.RepeatOf(repeat).Load = load
	return stored(x.Store.Append(ctx, &x.run, result.NewPiece(out, repeat, load, nil)))
}

// keepQueries puts what was measured of a query type in a repeat into the record,
// in the place of what is there of it, and stores it.
func (x *stage) keepQueries(ctx context.Context, out *result.Target, repeat int, q *result.Queries) error {
	out.RepeatOf(repeat).Put(q)
	return stored(x.Store.Append(ctx, &x.run, result.NewPiece(out, repeat, nil, q)))
}

// fix fixes the dataset and draws the queries, and sees that they are those
// that the experiment expects.
func (x *stage) fix(spec workload.Spec) error {
	if err := x.subject.prepare(spec, x.run.CheckSeed, x.run.QuerySeed); err != nil {
		return err
	}
	x.run.QuerySets = x.drawn()
	return x.asExpected()
}

// asExpected returns an error where the dataset or the queries are not those
// that the experiment expects, and notes another tsmark.
func (x *stage) asExpected() error {
	queries := make(map[string]string)
	for _, q := range x.run.QuerySets {
		queries[q.Type] = q.Fingerprint
	}
	if err := x.plan.experiment.HeldTo(x.run.Dataset.Fingerprint, queries); err != nil {
		return err
	}
	x.remark(x.plan.experiment.Expect.OtherTool(x.Tool.Version, x.Tool.Commit))
	return nil
}

// remark keeps for the readers of the run, once, what is not as expected.
func (x *stage) remark(deviation string) {
	if deviation != "" && !slices.Contains(x.run.Deviations, deviation) {
		x.run.Deviations = append(x.run.Deviations, deviation)
	}
}
