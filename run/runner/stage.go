package runner

import (
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// turn is a target that is open for a job.
type turn struct {
	job     cell
	planned *plannedTarget
	env     driver.Env
	db      driver.DB
	mark    session.Mark   // of what it holds, or of what is to be loaded
	adopted bool           // tsmark did not load what it holds
	out     *result.Target // what the run tells of it
}

// fix fixes the dataset and draws the queries, and returns an error unless they are those
// that the experiment expects.
func fix(s *subject, r *record, spec workload.Spec) error {
	if err := s.prepare(spec, r.doc.CheckSeed, r.doc.QuerySeed); err != nil {
		return err
	}
	r.doc.QuerySets = s.drawn()
	queries := make(map[string]string)
	for _, q := range r.doc.QuerySets {
		queries[q.Type] = q.Fingerprint
	}
	if err := s.plan.experiment.CheckExpected(r.doc.Dataset.Fingerprint, queries); err != nil {
		return err
	}
	r.remark(s.plan.experiment.Expect.OtherTool(r.tool.Version, r.tool.Commit))
	return nil
}
