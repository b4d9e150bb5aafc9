package runner

import "slices"

// asExpected returns an error where the dataset or the queries are not those
// that the experiment expects, and notes another tsmark.
func (x *execution) asExpected() error {
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
func (x *execution) remark(deviation string) {
	if deviation != "" && !slices.Contains(x.run.Deviations, deviation) {
		x.run.Deviations = append(x.run.Deviations, deviation)
	}
}
