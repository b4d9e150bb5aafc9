package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// Agents are other processes, each of which does its share of every phase of a run, in
// place of this one. They run this version of tsmark, as an Agent each.
type Agents interface {
	// Members are those that are there now, in an order that stays. Their names are
	// different.
	Members() []Member
	// Do gives members their parts of a phase, by the IDs of members: for each the body of
	// an Agent.Do. It waits until all have ended, also when ctx ends: those that were lost
	// certainly do nothing any longer, too. All parts start
	// together; a part that ends before it is ready lets the others start, and one that
	// fails or is lost by then has all others called off, as their outcomes say. Do's own error is
	// the cause of ctx's end, or says that nothing was given to anybody.
	Do(ctx context.Context, parts map[string][]byte, o PartObserver) (map[string]Outcome, error)
	// Private reports whether nobody else can read what is sent to the members, so that
	// it may have secrets in it.
	Private() bool
	// Dismiss ends the membership of a member that sent what no Agent writes.
	Dismiss(member, sent string)
	// StopWithin is how long a member may go on with a part after this process has died.
	StopWithin() time.Duration
	// Asked reports whether a process, as Member has it, has asked to join, also in vain.
	// What it did before, for a Runner that has died, has ended then.
	Asked(process string) bool
}

// PartObserver is told how the parts of a phase get on, by one goroutine at a time. It must
// return at once.
type PartObserver interface {
	// Progress: the member has done so many rows, or queries, of its part.
	Progress(member string, done int64)
	// Failed: after all were told to start, the member's part ended by an error, or the
	// member was lost. The others go on; who wants them to end has Do's context end.
	Failed(member string, lost bool)
}

// Member is an agent that is there.
type Member struct {
	ID, Name string
	Process  string // tells its process from others; the same for the next Runner that it joins
	Host     result.Host
	Tool     result.Tool
	Clock    result.Clock // as it was last found to differ from this process's; At is not used
}

// Outcome is what became of a member's part.
type Outcome struct {
	File string // has what Agent.Do wrote, whole; empty: nothing. The caller removes it.
	Err  error  // that of Agent.Do, or why it was lost
	Lost bool   // the member is no longer there
	// CalledOff says that Err is not the part's own: another part failed before all started.
	CalledOff bool
	// Started is when it went on from Link.Ready, by this process's clock; zero: it did
	// not. Skew is by how much that was later than the moment at which all were to.
	Started time.Time
	Skew    time.Duration
}

// Link connects an agent's part of a phase to the run that it is of. Its methods may be
// called by several goroutines, but for Write.
type Link interface {
	// Ready says that all is connected and warm, waits until all agents are, and returns
	// the moment at which all start, as a time of time.Now. It may be called once.
	Ready(context.Context) (time.Time, error)
	// Progress says how many rows, or queries, are done.
	Progress(done int64)
	// Peers are the agents that do the other parts.
	engine.Peers
	// Write adds to what the run gets back, whole or not at all.
	io.Writer
}

// ErrNoAgents is wrapped by the error that ends a run whose agents are all gone. What was
// finished is stored, and the run can be resumed.
var ErrNoAgents = errors.New("no agent is left")

// CheckAgents says why so many agents cannot share what is planned; nil: they can. Run
// checks it, too; who waits for agents first need not wait in vain.
func (p *Plan) CheckAgents(agents int) error {
	e := p.experiment
	const shared = "with agents"
	for i := range p.targets {
		t := &p.targets[i]
		path := fmt.Sprintf("targets[%d]", i)
		switch {
		case t.caps.Embedded && !t.caps.Discards:
			return e.Problem(path, "%s is in this process, where agents cannot reach it; choose a server, or run without agents", t.name)
		case p.steps.Load && t.caps.InOrder > 0 && t.caps.InOrder < driver.InSeries:
			return e.Problem(path, "%s takes rows in the order of their times only, which one process sees to; load without agents", t.name)
		case t.caps.OneConnection:
			return e.Problem(path, "%s takes one connection at a time; run without agents", t.name)
		}
	}
	switch {
	case p.steps.Load && e.Load.File != "":
		return e.Problem("load.file", "%s rows are generated, or read as own data: use the workload file, or load without agents", shared)
	case p.steps.Load && e.Load.Workers < agents:
		return e.Problem("load.workers", "%d are fewer than the %d agents, each of which has at least one of them; raise it", e.Load.Workers, agents)
	case p.steps.Query && e.Queries.Workers < agents:
		return e.Problem("queries.workers", "%d are fewer than the %d agents, each of which has at least one of them; raise it", e.Queries.Workers, agents)
	case p.steps.Load && e.Load.Columns == experiment.ColumnsAppear:
		return e.Problem("load.columns", "%s all columns are there from the start; leave it out, or load without agents", shared)
	case p.steps.Load && e.Mixed.On() && p.settings.mixed.Queriers < agents:
		path := "queries.workers"
		if e.Mixed.Queriers > 0 {
			path = "mixed.queriers"
		}
		return e.Problem(path, "%d are fewer than the %d agents, each of which has at least one of them; raise it", p.settings.mixed.Queriers, agents)
	case p.steps.Query && e.Queries.Until != "":
		return e.Problem("queries.until", "looks at the times of one process, and agents cannot share it; set the time box or the number of queries")
	case p.steps.Query && e.Queries.Cache == experiment.CacheCold:
		return e.Problem("queries.cache", "cold caches need one process; run without agents")
	}
	return nil
}

// joinable is why agents cannot write to an open target; nil: they can.
func joinable(t driver.DB, planned *plannedTarget) error {
	if t.Join != nil {
		return nil
	}
	return badInput(fmt.Errorf("tsmark's driver %s cannot write from several processes yet; load target %s without agents", planned.driver.Name, planned.name))
}

// team is the agents that do the phases of a run, and what is known of them.
type team struct {
	agents   Agents
	plan     *Plan
	subject  *subject
	watch    *watch
	record   *record
	ceilings map[string]result.Calibration // by the names of agents
}

// enlistAgents puts the agents that are there into the record, or how their clocks are
// now. It reports whether any of them is new.
func (t *team) enlistAgents(ending bool) (news bool) {
	if t == nil {
		return false
	}
	t.record.doc.AgentsStopWithin = t.agents.StopWithin().Seconds()
	for _, m := range t.agents.Members() {
		clock := m.Clock
		clock.At = t.watch.now()
		at := slices.IndexFunc(t.record.doc.Agents, func(a result.Agent) bool { return a.Name == m.Name })
		if at < 0 {
			t.record.doc.Agents = append(t.record.doc.Agents, result.Agent{Name: m.Name, Process: m.Process, Host: m.Host, Tool: m.Tool, Begin: &clock})
			news = true
			continue
		}
		a := &t.record.doc.Agents[at]
		if a.Process != m.Process { // its successor: the one before has ended
			a.Process, news = m.Process, true
		}
		if ending {
			a.End = &clock
		}
	}
	return news
}

// lostAgent keeps why an agent is no longer there.
func (t *team) lostAgent(name string, why error) {
	for i := range t.record.doc.Agents {
		if a := &t.record.doc.Agents[i]; a.Name == name && a.Lost == "" {
			a.Lost = why.Error()
		}
	}
}
