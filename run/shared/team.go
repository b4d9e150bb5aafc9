package shared

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/run/watch"
)

// newAssignment returns the common fields of all parts of a phase on a target.
func (m *Team) newAssignment(job string, planned *plan.Target) (assignment, error) {
	p := assignment{Job: job, Spec: m.Subject.Record.Spec, Steps: m.Plan.Steps, Fingerprint: m.Subject.Record.Fingerprint, Seed: m.Record.Doc.CheckSeed, QuerySeed: m.Record.Doc.QuerySeed}
	p.Spec.QuerySettings = nil
	e := m.Plan.PublicCopy(m.Plan.Experiment)
	e.Adopt = false
	e.Workload, e.Load.Limit = m.Subject.Record.Spec, m.Subject.Record.Spec.Limit
	at := slices.IndexFunc(e.Targets, func(t experiment.Target) bool { return t.Name == planned.Name })
	t := experiment.Target{Name: planned.Name, Driver: e.Targets[at].Driver, Options: make(experiment.Options)}
	for _, o := range planned.Driver.Options {
		value := planned.Options[o.Name]
		if value == o.Default {
			continue
		}
		shown := m.Plan.Secrets.Text(value)
		if !o.Secret {
			t.Options[o.Name] = shown // a hidden value is taken from the environment
		}
		switch {
		case !o.Secret && shown == value:
		case m.Agents.Private():
			p.Environ = append(p.Environ, plan.SecretVariable(t.Name, o.Name)+"="+value)
		default:
			p.Wanted = append(p.Wanted, plan.SecretVariable(t.Name, o.Name))
		}
	}
	e.Targets, e.Load.Workers, e.Load.BatchSize = []experiment.Target{t}, planned.Workers, planned.BatchSize
	yaml, err := experiment.Marshal(e)
	p.Experiment = string(yaml)
	return p, err
}

// CheckJoinable says why agents cannot write to an open target; nil: they can.
func CheckJoinable(t driver.DB, planned *plan.Target) error {
	if t.Join != nil {
		return nil
	}
	return plan.BadInput(fmt.Errorf("tsmark's driver %s cannot write from several processes yet; load target %s without agents", planned.Driver.Name, planned.Name))
}

// Team is the agents that execute the phases of a run, and their records.
type Team struct {
	Agents   Agents
	Plan     *plan.Plan
	Subject  *subject.Subject
	Watch    *watch.Watch
	Record   *record.Record
	ceilings map[string]result.Calibration // by agent name
}

// Enlist records the current agents, or updates their clocks. It reports whether any of them is
// new.
func (t *Team) Enlist(ending bool) (news bool) {
	if t == nil {
		return false
	}
	t.Record.Doc.AgentsStopWithin = t.Agents.StopWithin().Seconds()
	for _, m := range t.Agents.Members() {
		clock := m.Clock
		clock.At = t.Watch.Now()
		at := slices.IndexFunc(t.Record.Doc.Agents, func(a result.Agent) bool { return a.Name == m.Name })
		if at < 0 {
			t.Record.Doc.Agents = append(t.Record.Doc.Agents, result.Agent{Name: m.Name, Process: m.Process, Host: m.Host, Tool: m.Tool, Begin: &clock})
			news = true
			continue
		}
		a := &t.Record.Doc.Agents[at]
		if a.Process != m.Process { // a new process replaced the earlier one
			a.Process, news = m.Process, true
		}
		if ending {
			a.End = &clock
		}
	}
	return news
}

// noteLost records why an agent was lost.
func (t *Team) noteLost(name string, why error) {
	for i := range t.Record.Doc.Agents {
		if a := &t.Record.Doc.Agents[i]; a.Name == name && a.Lost == "" {
			a.Lost = why.Error()
		}
	}
}

// Calibrate measures the agents themselves, each once.
func (t *Team) Calibrate(ctx context.Context) error {
	known := !slices.ContainsFunc(t.Agents.Members(), func(m Member) bool {
		_, known := t.ceilings[m.Name]
		return !known
	})
	if known || t.Subject.Dataset == nil {
		return nil
	}
	t.ceilings = make(map[string]result.Calibration)
	task := t.Record.Display.Start("calibrating the agents", "rows", 0)
	common, err := t.newAssignment(jobCalibrate, t.Plan.CalibrationTarget())
	if err == nil {
		p := &phase{team: t, task: task, into: newJoined(oplog.Cell{}, 0, nil)}
		err = p.do(ctx, common)
	}
	if err != nil {
		task.Fail("") // the reason is reported with the target's failure
		return fmt.Errorf("calibrating the agents: %w", err)
	}
	var all result.Calibration
	for _, c := range t.ceilings {
		all.Workers, all.QueryWorkers = all.Workers+c.Workers, all.QueryWorkers+c.QueryWorkers
		all.RowsPerSecond, all.QueriesPerSecond = all.RowsPerSecond+c.RowsPerSecond, all.QueriesPerSecond+c.QueriesPerSecond
	}
	task.Finish(fmt.Sprintf("%.0f rows/s, %.0f queries/s at most", all.RowsPerSecond, all.QueriesPerSecond))
	if t.Record.Doc.Calibration == nil {
		t.Record.Doc.Calibration = &all
	}
	return nil
}

// uncertaintyOf returns the uncertainty of an agent's clock.
func (t *Team) uncertaintyOf(agent string) time.Duration {
	for _, m := range t.Agents.Members() {
		if m.Name == agent {
			return time.Duration(m.Clock.Uncertainty * float64(time.Second))
		}
	}
	return 0
}
