// Package stage executes the jobs of a run on one target: it opens it, loads it, checks its
// answers, measures its queries and compares the recorded answers. A stage has its dependencies as
// fields, receives an opened target, and calls no other stage.
package stage

import (
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// Opened is a target that is open for a job.
type Opened struct {
	job     plan.Job
	Planned *plan.Target
	Env     driver.Env
	DB      driver.DB
	mark    session.Mark   // of its contents, or of the data to load
	adopted bool           // tsmark did not load its data
	out     *result.Target // its record in the run
}

// Fix determines the dataset and generates the queries, and returns an error if the experiment
// expects others.
func Fix(s *subject.Subject, r *record.Record, spec workload.Spec) error {
	if err := s.Prepare(spec, r.Doc.CheckSeed, r.Doc.QuerySeed); err != nil {
		return err
	}
	r.Doc.QuerySets = s.QuerySets()
	queries := make(map[string]string)
	for _, q := range r.Doc.QuerySets {
		queries[q.Type] = q.Fingerprint
	}
	if err := s.Plan.Experiment.CheckExpected(r.Doc.Dataset.Fingerprint, queries); err != nil {
		return err
	}
	r.Remark(s.Plan.Experiment.Expect.OtherTool(r.Tool.Version, r.Tool.Commit))
	return nil
}
