// Package agents lets one experiment run on many machines: a coordinator gives agents
// commands and gets their results back. What commands mean is the runner's; this package
// carries them. It keeps the clocks of all in relation, starts a phase everywhere at one
// instant, tells who is no longer there, and sees to it that nobody goes on whose
// coordinator has gone.
//
// They meet at a NATS server, which package broker embeds in the coordinator or finds
// elsewhere. All is requests and messages. An agent keeps its result until the coordinator has it
// whole, over any number of reconnects. Neither side believes the other: an agent does only what
// it was started for, and an agent that sends what it must not loses its place.
package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tsmark/tsmark/result"
)

// Command is one thing that an agent does.
type Command struct {
	ID   string // unique in a coordinator's life
	Body []byte // the runner's; at most MostBody bytes
	// StartsTogether makes Task.Ready wait for all commands of the same Do that have it,
	// so that they begin at one instant. The others begin when they are ready.
	StartsTogether bool
}

// MostBody is how large the body of a command may be, in bytes: as Base64 it fits into the
// largest message of NATS.
const MostBody = 512 << 10

// Work executes commands on an agent, one after the other.
type Work interface {
	// Do executes a command. What it writes to the task reaches the coordinator whole or
	// not at all, also when Do returns an error, which the coordinator gets as text. It
	// must return soon after ctx has ended, whose cause says why: the coordinator stopped
	// the command or has gone, or the agent is to end.
	Do(ctx context.Context, c Command, t Task) error
}

// Task connects a command that is executed to its coordinator. Its methods may be called
// by several goroutines, but for Write.
type Task interface {
	// Ready says that everything is prepared, waits until all are, and returns at the
	// instant at which all begin, which is its value, in time.Now's clock of this process.
	// The error says why the command was called off. It may be called once.
	Ready(ctx context.Context) (time.Time, error)
	// Progress says how many rows, or queries, are done in all.
	Progress(done int64)
	// Share tells the coordinator a value of this agent's, which must not fall, such as
	// up to where all its rows are acknowledged. It does not wait.
	Share(name string, value int64)
	// Minimum is the least value that was shared under that name by all commands of the
	// same Do, as last heard; false: not all have shared one yet. It does not wait.
	Minimum(name string) (int64, bool)
	// Write adds to the result.
	io.Writer
}

// Member is an agent that has joined a coordinator.
type Member struct {
	ID   string // of this process: an agent that was started again has another
	Name string // unique among the members
	// Process tells its process from others: it is the same when that joins again.
	Process string
	Host    result.Host
	Tool    result.Tool
	// Clock is how its clock was last found to differ from the coordinator's.
	Clock Clock
	// First is what Clock was when it joined.
	First Clock
}

// Observer is told about commands while they are executed, by one goroutine at a time. It
// must return at once.
type Observer interface {
	// Progress: the member has done so many rows, or queries, of its command.
	Progress(member string, done int64)
	// Lost: the member is no longer there.
	Lost(member string, why *Lost)
	// Failed: after all that start together were told to begin, the member's command ended
	// by an error, which is a *Lost where the member was lost. The others go on; who wants
	// them to end cancels the context of Do.
	Failed(member string, err error)
}

// Outcome is what became of a command.
type Outcome struct {
	// File has what Work.Do wrote, whole; empty: nothing, or the result never came. It
	// is the caller's to remove.
	File string
	// Err is nil where Work.Do returned nil and its result is here. It is a *Lost where
	// the agent was lost.
	Err error
	// CalledOff says that Err is not of this command: another one of the same Do, which was
	// to start together with it, failed before that.
	CalledOff bool
	// Started is when the agent went on from Task.Ready, in the coordinator's clock, as
	// uncertain as Clock; zero: it did not come to that.
	Started time.Time
	// Skew is by how much that was later than the instant at which all were to begin, so
	// far as the agent's own clock tells; 0 of a command that does not start together.
	// The uncertainty of its clock comes on top.
	Skew time.Duration
	// Clock is how the agent's clock differed when the command had ended.
	Clock Clock
}

// Lost says how an agent was lost.
type Lost struct {
	Name string // of the agent
	How  Loss
	Text string // for Said: what the agent said; for Malformed: what it sent
	// Silence is how long nothing had been heard.
	Silence time.Duration
	// Stood is how long the coordinator itself had stood still shortly before: agents that hear
	// nothing of it stop and leave. Zero: it had not.
	Stood time.Duration
}

// Loss tells ways of losing an agent apart.
type Loss int

const (
	// Silent: its connection stands, but no heartbeat came over it: it hangs, or the network
	// between lets nothing pass. Nobody can tell these two apart from outside.
	Silent Loss = iota
	// Gone: its connection ended and no other followed: its process or its host died.
	Gone
	// Said: it said that it ends.
	Said
	// Malformed: it sent what no agent sends.
	Malformed
	// Stuck: it was told to stop its command, and did not within Timing.Stop.
	Stuck
)

func (l *Lost) Error() string {
	if l.Stood > 0 {
		return fmt.Sprintf("agent %s was lost: the coordinator itself stood still for %v, stopped or starved, and agents that hear nothing of it stop and leave", l.Name, l.Stood.Round(100*time.Millisecond))
	}
	switch l.How {
	case Gone:
		return fmt.Sprintf("agent %s was lost: its connection ended, and it did not come back within %v; see whether its process ended", l.Name, l.Silence.Round(100*time.Millisecond))
	case Said:
		return fmt.Sprintf("agent %s was lost: it ended: %s", l.Name, l.Text)
	case Malformed:
		return fmt.Sprintf("agent %s was lost: it sent %s", l.Name, l.Text)
	case Stuck:
		return fmt.Sprintf("agent %s was lost: it did not stop what it did within %v; end its process", l.Name, l.Silence)
	default:
		return fmt.Sprintf("agent %s was lost: no heartbeat for %v; it hangs, or the network to it is interrupted", l.Name, l.Silence.Round(100*time.Millisecond))
	}
}

// IsLost reports whether an error says that an agent was lost.
func IsLost(err error) bool {
	var lost *Lost
	return errors.As(err, &lost)
}

// Timing is how a coordinator and its agents keep in touch. The coordinator's holds for both.
type Timing struct {
	Beat   time.Duration `json:"beat"`   // between heartbeats, in both directions
	Lost   time.Duration `json:"lost"`   // silence after which the other one counts as lost: some beats
	Share  time.Duration `json:"share"`  // between the values of Task.Share that are sent
	Margin time.Duration `json:"margin"` // from the last agent's Ready to the instant at which all begin, beside the round trips
	Stop   time.Duration `json:"stop"`   // that a command may take to end when it is told to
}

// halt is how long work may take to end on an agent that has lost its coordinator. Then its
// process ends, so that the work does.
func (t Timing) halt() time.Duration { return min(t.Stop, 3*t.Beat) }

// StopWithin is how long an agent may go on with what it does after its coordinator has last heard
// of it, or has died: a heartbeat passes before the agent hears nothing any longer, after Lost
// it notices by the next one, and its work takes a while to end.
func (t Timing) StopWithin() time.Duration { return t.Lost + 2*t.Beat + t.halt() }

// DefaultTiming finds a lost agent within five seconds.
func DefaultTiming() Timing {
	return Timing{Beat: time.Second, Lost: 5 * time.Second, Share: 50 * time.Millisecond, Margin: 100 * time.Millisecond, Stop: 30 * time.Second}
}
