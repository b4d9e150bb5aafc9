package shared

import (
	"cmp"
	"context"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/rate"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
)

// Query runs the queries of a type with agents. The configuration applies to all agents together.
func (t *Team) Query(ctx context.Context, planned *plan.Target, repeat int, q *plan.TypeQueries, cfg engine.QueryConfig, queries *subject.Source, task record.Task) (*result.Queries, error) {
	common, err := t.newAssignment(jobQueries, planned)
	if err != nil {
		return nil, err
	}
	common.Type, common.Repeat, common.Queries = q.Type.Name, repeat, q.Set.Fingerprint
	common.Capture, common.Counts, common.WarmUp = t.Subject.HasExpected(q) || t.Subject.ComparesSystems(q), t.Subject.ComparesSystems(q), cfg.WarmUp.Queries != nil
	first, end := q.Blocks.Range(repeat)
	if counted := q.Expected[t.Subject.ViewOf(planned)].Counted[planned.Driver.Semantics]; counted != nil {
		common.Expected = runsOf(counted[first:end])
	}
	run := func(ctx context.Context, cfg engine.QueryConfig, rate string) (*result.Queries, error) {
		part := common
		part.Begun, part.Warm, part.TimeBox, part.Rate = cfg.Capture.Begun, cfg.WarmUp.Time, cfg.TimeBox, rate
		return t.queryOnce(ctx, part, cfg, queries, task)
	}
	s := &t.Plan.Settings
	if s.Open == nil {
		return run(ctx, cfg, "")
	}
	if s.Objective == nil {
		return run(ctx, cfg, s.Open.Schedule.String())
	}
	return engine.FindMaxRateBy(ctx, s.OpenConfig(cfg, queries.Len()), rate.Search{}, *s.Objective, func(ctx context.Context, open engine.OpenConfig) (*result.Queries, error) {
		return run(ctx, open.QueryConfig, open.Schedule.String())
	})
}

// queryOnce runs queries once with agents, at the rate in their part.
func (t *Team) queryOnce(ctx context.Context, common assignment, cfg engine.QueryConfig, queries *subject.Source, task record.Task) (*result.Queries, error) {
	cell := oplog.Cell{Kind: oplog.Query, Schedule: common.Rate, Workers: cfg.Workers, Queries: queries.Len(), First: cfg.First}
	p := &phase{
		team: t, into: newJoined(cell, 0, cfg.Log), task: task,
		ceiling: func(c result.Calibration) float64 { return c.QueriesPerSecond },
	}
	err := p.do(ctx, common)
	var parts []*result.Queries
	for _, r := range p.results {
		if r.Queries != nil {
			parts = append(parts, r.Queries)
		}
		cfg.Capture.Take(r.answers)
	}
	out, joining := engine.JoinQueries(cfg, p.into[0].tally, queries, parts, p.behind)
	out.Parts = p.parts
	if len(p.missing) > 0 {
		out.Withheld = missingShares(p.missing, p.count)
	}
	if out.Open != nil {
		cfg.Capture.Begun += out.Open.Arrivals
	}
	return out, cmp.Or(err, joining)
}
