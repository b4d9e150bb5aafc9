package runner

import (
	"slices"

	"github.com/tsmark/tsmark/workload"
)

// fix fixes the dataset and draws the queries, and sees that they are those
// that the experiment expects.
func (x *stage) fix(spec workload.Spec) error {
	if err := x.subject.prepare(spec, x.run.CheckSeed); err != nil {
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
