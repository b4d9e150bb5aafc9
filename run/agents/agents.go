// Package agents runs one experiment on many machines: a coordinator sends commands to agents and
// receives their results. The runner defines the commands; this package transports them. It
// measures clock offsets, starts a phase everywhere at one instant, detects lost agents, and stops
// agents whose coordinator is gone.
//
// Coordinator and agents connect to a NATS server, which package broker embeds in the coordinator
// or finds elsewhere. All communication consists of requests and messages. An agent keeps its
// result until the coordinator has received all of it, over any number of reconnects. The sides do
// not trust each other: an agent executes only the work that it was started for, and an agent that
// sends malformed messages is removed.
package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tsmark/tsmark/result"
)

// Command is a unit of work for an agent.
type Command struct {
	ID   string // unique for a coordinator
	Body []byte // defined by the runner; at most MostBody bytes
	// StartsTogether makes Task.Ready wait for all commands of the same Do that have it set, so
	// that they start at one instant. Other commands start when they are ready.
	StartsTogether bool
}

// MostBody is the maximum size of a command's body in bytes: encoded as Base64 it fits into the
// largest message of NATS.
const MostBody = 512 << 10

// Work executes commands on an agent, one after the other.
type Work interface {
	// Do executes a command. Its output reaches the coordinator completely or not at all, even if
	// Do returns an error, which the coordinator receives as text. Do must return soon after ctx
	// has ended. The cause says why: the coordinator stopped the command or is gone, or the agent
	// is to end.
	Do(ctx context.Context, c Command, t Task) error
}

// Task connects a running command to its coordinator. Its methods, except Write, may be called by
// several goroutines.
type Task interface {
	// Ready reports that the command is prepared, waits for all others, and returns at the common
	// start time, which is its result, by time.Now's clock of this process. The error says why the
	// command was called off. It may be called once.
	Ready(ctx context.Context) (time.Time, error)
	// Progress reports the total number of rows or queries done so far.
	Progress(done int64)
	// Share sends a value of this agent to the coordinator, for example the time up to which all
	// its rows are acknowledged. The value must not fall. Share does not wait.
	Share(name string, value int64)
	// Minimum is the latest known minimum of the values that all commands of the same Do shared
	// under the name; false: some have not shared one yet. It does not wait.
	Minimum(name string) (int64, bool)
	// Write appends to the result.
	io.Writer
}

// Member is an agent that has joined a coordinator.
type Member struct {
	ID   string // of the membership of this process: a restarted agent has another
	Name string // unique among the members
	// Process identifies the agent's process: it stays the same when the process joins again.
	Process string
	Host    result.Host
	Tool    result.Tool
	// Clock is the latest measurement of its clock.
	Clock Clock
	// First is the measurement when it joined.
	First Clock
}

// Observer receives events of running commands, from one goroutine at a time. Its methods must
// return at once.
type Observer interface {
	// Progress: the member has processed this number of rows or queries of its command.
	Progress(member string, done int64)
	// MemberLost: the member was lost.
	MemberLost(member string, why *Lost)
	// CommandFailed: after the common start, the member's command ended with an error, which is a *Lost if
	// the member was lost. The other commands continue; cancel the context of Do to stop them.
	CommandFailed(member string, err error)
}

// Outcome is the outcome of a command.
type Outcome struct {
	// File has the complete output of Work.Do; empty: no output, or the result did not arrive. The
	// caller removes the file.
	File string
	// Err is nil if Work.Do returned nil and its result has arrived. It is a *Lost if the agent was
	// lost.
	Err error
	// CalledOff says that Err is the error of another command of the same Do, which failed before
	// the common start.
	CalledOff bool
	// Started is the time when the agent returned from Task.Ready, by the coordinator's clock, as
	// uncertain as Clock; zero: it did not get there.
	Started time.Time
	// Skew is the delay of Started after the common start time, as measured by the agent's own
	// clock; 0 for a command without a common start. The uncertainty of the clock is additional.
	Skew time.Duration
	// Clock is the measurement of the agent's clock when the command had ended.
	Clock Clock
}

// Lost describes the loss of an agent.
type Lost struct {
	Name string // of the agent
	How  Loss
	Text string // for Said: the agent's message; for Malformed: the malformed message
	// Silence is the time since the last message.
	Silence time.Duration
	// Suspended is the time for which the coordinator itself was suspended shortly before: agents that
	// receive no heartbeats stop and leave. Zero: it was not suspended.
	Suspended time.Duration
}

// Loss is the way in which an agent was lost.
type Loss int

const (
	// Silent: its connection exists but no heartbeats arrive: the agent hangs, or the network drops
	// all packets. These two cannot be distinguished from outside.
	Silent Loss = iota
	// Gone: its connection ended and was not replaced: its process or its host died.
	Gone
	// Said: it announced its end.
	Said
	// Malformed: it sent a message that agents do not send.
	Malformed
	// Stuck: its command did not end within Timing.Stop after it was stopped.
	Stuck
)

func (l *Lost) Error() string {
	if l.Suspended > 0 {
		return fmt.Sprintf("agent %s was lost: the coordinator itself was paused for %v, stopped or starved, and agents that hear nothing of it stop and leave", l.Name, l.Suspended.Round(100*time.Millisecond))
	}
	switch l.How {
	case Gone:
		return fmt.Sprintf("agent %s was lost: its connection ended, and it did not come back within %v; see whether its process ended", l.Name, l.Silence.Round(100*time.Millisecond))
	case Said:
		return fmt.Sprintf("agent %s was lost: it ended: %s", l.Name, l.Text)
	case Malformed:
		return fmt.Sprintf("agent %s was lost: it sent %s", l.Name, l.Text)
	case Stuck:
		return fmt.Sprintf("agent %s was lost: it did not stop its command within %v; end its process", l.Name, l.Silence)
	default:
		return fmt.Sprintf("agent %s was lost: no heartbeat for %v; it hangs, or the network to it is interrupted", l.Name, l.Silence.Round(100*time.Millisecond))
	}
}

// IsLost reports whether an error says that an agent was lost.
func IsLost(err error) bool {
	var lost *Lost
	return errors.As(err, &lost)
}

// Timing has the intervals and time limits of the communication. The coordinator's values apply to
// its agents too.
type Timing struct {
	Beat   time.Duration `json:"beat"`   // between heartbeats, in both directions
	Lost   time.Duration `json:"lost"`   // silence after which the other side counts as lost: several beats
	Share  time.Duration `json:"share"`  // between two messages with values of Task.Share
	Margin time.Duration `json:"margin"` // from the last agent's Ready to the common start, in addition to round trips
	Stop   time.Duration `json:"stop"`   // time limit for a stopped command to end
}

// halt is the time limit for work to end on an agent that has lost its coordinator. After that its
// process ends, and the work with it.
func (t Timing) halt() time.Duration { return min(t.Stop, 3*t.Beat) }

// StopWithin is the maximum time that an agent continues its work after the coordinator has last
// heard of it, or has died: one heartbeat until the silence starts, Lost plus up to one beat until
// the agent notices, and the time for its work to end.
func (t Timing) StopWithin() time.Duration { return t.Lost + 2*t.Beat + t.halt() }

// DefaultTiming detects a lost agent within five seconds.
func DefaultTiming() Timing {
	return Timing{Beat: time.Second, Lost: 5 * time.Second, Share: 50 * time.Millisecond, Margin: 100 * time.Millisecond, Stop: 30 * time.Second}
}
