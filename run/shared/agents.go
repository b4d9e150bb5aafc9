// Package shared executes phases with agents: tsmark processes that each execute a share of every
// phase. A Team is the side of the run; an Agent is the side of the other process.
package shared

import (
	"context"
	"io"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/result"
)

// Agents are other processes, each executing its share of every phase of a run in place of this
// one. They run this version of tsmark, as an Agent each.
type Agents interface {
	// Members returns the current members in a stable order. Their names are unique.
	Members() []Member
	// Do sends members their parts of a phase, by member ID: for each the body of an Agent.Do. It
	// waits until all have ended, even when ctx ends: lost members have certainly stopped, too. All
	// parts start together; a part that ends before it is ready does not delay the others, and one
	// that fails or is lost before the start calls off all others, as their outcomes say. Do's own
	// error is the cause of ctx's end, or says that no part was sent.
	Do(ctx context.Context, parts map[string][]byte, o PhaseObserver) (map[string]Outcome, error)
	// Private reports whether others cannot read the messages to members, so that these may contain
	// secrets.
	Private() bool
	// Dismiss removes a member that sent malformed results.
	Dismiss(member, sent string)
	// StopWithin is how long a member may continue a part after this process has died.
	StopWithin() time.Duration
	// HasRequested reports whether a process (see Member) has requested to join, even without success. Its
	// work for a Runner that has died has then ended.
	HasRequested(process string) bool
}

// PhaseObserver receives the progress of a phase's parts, from one goroutine at a time. Its methods
// must return at once.
type PhaseObserver interface {
	// Progress: the member has processed this number of rows or queries of its part.
	Progress(member string, done int64)
	// PartFailed: after the common start, the member's part ended with an error, or the member was
	// lost. The others continue; end Do's context to stop them.
	PartFailed(member string, lost bool)
}

// Member is a current agent.
type Member struct {
	ID, Name string
	Process  string // identifies its process, also for the next Runner that it joins
	Host     result.Host
	Tool     result.Tool
	Clock    result.Clock // latest measurement against this process's clock; At is not used
}

// Outcome is the outcome of a member's part.
type Outcome struct {
	File string // complete output of Agent.Do; empty: none. The caller removes the file.
	Err  error  // error of Agent.Do, or why the member was lost
	Lost bool   // the member was lost
	// CalledOff says that Err is the error of another part, which failed before the common start.
	CalledOff bool
	// Started is the time when it returned from Link.Ready, by this process's clock; zero: it did
	// not get there. Skew is the delay after the common start time.
	Started time.Time
	Skew    time.Duration
}

// Link connects an agent's part of a phase to its run. Its methods, except Write, may be called by
// several goroutines.
type Link interface {
	// Ready reports that the part is connected and warm, waits for all agents, and returns the
	// common start time, by time.Now. It may be called once.
	Ready(context.Context) (time.Time, error)
	// Progress reports the number of rows or queries done so far.
	Progress(done int64)
	// Peers returns the agents of the other parts.
	engine.Peers
	// Write appends to the result, which arrives completely or not at all.
	io.Writer
}
