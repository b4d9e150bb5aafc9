package plan

import (
	"cmp"
	"context"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/engine/rate"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// settings are the settings that an experiment writes as texts, parsed once for the plan.
type settings struct {
	retry retry.Policy
	Quiet float64 // share of the machine's CPU time that other processes may use
	// memory is the memory limit of each server that tsmark starts, in bytes; 0: none.
	memory    int64
	load      engine.LoadConfig  // without Workers and BatchSize
	Query     engine.QueryConfig // without TimeBox, which depends on the number of query types
	Open      *engine.OpenConfig // for queries that arrive by a schedule; nil: a closed loop
	Objective *rate.Objective    // for a search for the highest rate that keeps it; nil: no search
	mixed     engine.MixedConfig // likewise
	Queriers  int                // in a mixed phase
	// Weights are the weights of query types in a mixed phase; nil: all equal.
	Weights []int
}

// readSettings parses the settings of a checked experiment.
func readSettings(e *experiment.Experiment, begin func() *pulse.Pulse) (s settings, err error) {
	if s.retry, err = retry.Parse(e.Load.Retry); err != nil {
		return s, e.Problem("load.retry", "%s", err)
	}
	s.Quiet = result.QuietShare
	if e.RequireQuiet != "" {
		if s.Quiet, err = experiment.ParseQuiet(e.RequireQuiet); err != nil {
			return s, e.Problem("require-quiet", "%s", err)
		}
	}
	if e.ServerMemory != "" {
		if s.memory, err = experiment.ParseMemory(e.ServerMemory); err != nil {
			return s, e.Problem(experiment.MemoryPath, "%s", err)
		}
		if why := process.CanLimitMemory(); why != nil && s.memory > 0 {
			return s, e.Problem(experiment.MemoryPath, "this host keeps no server to it: %s; leave it out, or run tsmark as root", why)
		}
	}
	s.load = engine.LoadConfig{Period: e.Load.ReportingPeriod, Retry: s.retry, Pulse: begin}
	if err := s.readQueries(e, begin); err != nil {
		return s, err
	}
	return s, s.readMixed(e)
}

func (s *settings) readQueries(e *experiment.Experiment, begin func() *pulse.Pulse) (err error) {
	q := &e.Queries
	warmUp, err := experiment.ParseWarmUp(q.WarmUp)
	if err != nil {
		return e.Problem("queries.warm-up", "%s", err)
	}
	s.Query = engine.QueryConfig{
		Workers: q.Workers, BurnIn: warmUp.Queries, Timeout: q.Timeout, WarmUp: engine.WarmUp{Time: warmUp.Time}, Pulse: begin,
	}
	if q.Until != "" {
		if s.Query.Until, err = experiment.ParseShare(q.Until); err != nil {
			return e.Problem("queries.until", "%s", err)
		}
	}
	if !q.Open() {
		return nil
	}
	s.Open = &engine.OpenConfig{Queue: cmp.Or(q.Queue, experiment.DefaultQueue)}
	if q.FindMaxRate != "" {
		keep, err := rate.Parse(q.FindMaxRate)
		if err != nil {
			return e.Problem("queries.find-max-rate", "%s", err)
		}
		s.Objective = &keep
		return nil
	}
	s.Open.Schedule, err = schedule(e, "queries.rate", q.Rate)
	return err
}

func (s *settings) readMixed(e *experiment.Experiment) (err error) {
	m := &e.Mixed
	s.Queriers = cmp.Or(m.Queriers, e.Queries.Workers)
	s.mixed = engine.MixedConfig{
		Queriers: s.Queriers, Duration: m.Duration, Timeout: e.Queries.Timeout,
		Share: m.Share(), Queue: experiment.DefaultQueue,
		Windows: cmp.Or(e.Queries.Windows, workload.Uniform), Align: e.Queries.AlignWindows, Keep: e.Queries.Verify,
	}
	if s.mixed.RowRate, err = schedule(e, "mixed.row-rate", m.RowRate); err != nil {
		return err
	}
	if s.mixed.QueryRate, err = schedule(e, "mixed.query-rate", m.QueryRate); err != nil {
		return err
	}
	if s.Weights, err = experiment.ParseWeights(m.Weights); err != nil {
		return e.Problem("mixed.weights", "%s", err)
	}
	return nil
}

// schedule parses a rate; nil: none.
func schedule(e *experiment.Experiment, path, rate string) (pace.Schedule, error) {
	if rate == "" || rate == experiment.MaxRate {
		return nil, nil
	}
	s, err := pace.Parse(rate)
	if err != nil {
		return nil, e.Problem(path, "%s", err)
	}
	return s, nil
}

// LoadConfig returns the configuration for loading a target.
func (p *Plan) LoadConfig(t *Target) engine.LoadConfig {
	c := p.Settings.load
	c.Workers, c.BatchSize = t.Workers, t.BatchSize
	return c
}

// MixedConfig returns the configuration for a mixed phase of a target.
func (p *Plan) MixedConfig(t *Target) engine.MixedConfig {
	c := p.Settings.mixed
	c.LoadConfig = p.LoadConfig(t)
	return c
}

// Of a life: least number of batches a second, so that rows become visible steadily, the maximum
// number of points in its figures over time, and how long a batch is sent again after a failure,
// unless the experiment says so: a life goes on after a restart.
const (
	lifeBatches = 10
	lifePoints  = 240
	lifeRetry   = time.Minute
)

// LifeConfig returns the configuration for the base of a target's life.
func (p *Plan) LifeConfig(t *Target) engine.MixedConfig {
	l := &p.Experiment.Life
	c := p.MixedConfig(t)
	c.RowRate, c.QueryRate, c.Duration = pace.Constant(l.Ingest), pace.Constant(l.Dashboards), l.Duration
	c.BatchSize = min(c.BatchSize, max(l.Ingest/lifeBatches, 1))
	c.Period = max(time.Second, l.Duration/lifePoints)
	if !c.Retry.Enabled() {
		c.Retry.Within = lifeRetry
	}
	return c
}

// CalibrationTarget returns the target whose load is the client's hardest: it has the most workers.
func (p *Plan) CalibrationTarget() *Target {
	most := &p.Targets[0]
	for i := range p.Targets {
		if t := &p.Targets[i]; t.Workers > most.Workers {
			most = t
		}
	}
	return most
}

// OpenConfig returns the configuration of an open loop for a number of queries. Without a time box
// each runs once.
func (s *settings) OpenConfig(cfg engine.QueryConfig, queries int) engine.OpenConfig {
	open := *s.Open
	open.QueryConfig = cfg
	if cfg.TimeBox == 0 {
		open.Count = queries
	}
	return open
}

// QueryOpen runs queries in an open loop, or searches for the highest rate.
func (s *settings) QueryOpen(ctx context.Context, db driver.DB, cfg engine.QueryConfig, queries engine.Source, progress engine.Progress) (*result.Queries, error) {
	open := s.OpenConfig(cfg, queries.Len())
	if s.Objective != nil {
		return engine.FindMaxRate(ctx, open, rate.Search{}, *s.Objective, db, queries, progress)
	}
	return engine.QueryOpen(ctx, open, db, queries, progress)
}
