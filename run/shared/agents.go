// Package shared does phases with agents: tsmark processes that each do a share of every phase.
// A Team is the side of the run; an Agent is the side of the other process.
package shared

import (
	"context"
	"io"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/result"
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
	Do(ctx context.Context, parts map[string][]byte, o PhaseObserver) (map[string]Outcome, error)
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

// PhaseObserver is told how the parts of a phase get on, by one goroutine at a time. It must
// return at once.
type PhaseObserver interface {
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
