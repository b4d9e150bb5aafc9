package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/agents/broker"
	"github.com/tsmark/tsmark/run/allow"
)

// The subjects; %s is the ID of a coordinator or of a member. A member's ID consists of the ID of
// its process and an ID of its membership, separated by a period: the server lets a process publish
// only on subjects with its own ID, so the subject identifies the sender. Requests are answered
// with an answer and may arrive twice, because the sender repeats an unanswered request.
const (
	joinSubject  = "tsmark.join.%s" // request of a process to any coordinator: hello → welcome
	coordinators = "coordinators"   // one of them receives each request

	// From a member to a coordinator; the first %s is the coordinator.
	toCoordinator = "tsmark.coordinator.%s.%s."
	beatSubject   = toCoordinator + "beat"  // message: beat
	shareSubject  = toCoordinator + "share" // message: shares
	readySubject  = toCoordinator + "ready" // request: about
	doneSubject   = toCoordinator + "done"  // request: done
	chunkSubject  = toCoordinator + "chunk" // request: bytes of a result
	leaveSubject  = toCoordinator + "leave" // message: about

	// From a coordinator to all its members.
	pulseSubject = "tsmark.pulse.%s" // message: pulse

	// From a coordinator to one member.
	toMember       = "tsmark.agent.%s."
	clockSubject   = toMember + "clock"   // request: nothing → tick
	doSubject      = toMember + "do"      // request: order
	startSubject   = toMember + "start"   // request: start
	stopSubject    = toMember + "stop"    // request: about
	releaseSubject = toMember + "release" // message: about
)

// hello is the request of an agent to join.
type hello struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	Process    string      `json:"process"`    // the same when it joins again
	Connection string      `json:"connection"` // name of its connection
	Host       result.Host `json:"host"`
	Tool       result.Tool `json:"tool"`
	// Coordinator is the coordinator whose needs the agent has checked; empty: none yet. Objection
	// is a line about needs that it does not permit; empty: none.
	Coordinator string `json:"coordinator,omitempty"`
	Objection   string `json:"objection,omitempty"`
}

// maxMessage is the maximum size of a member's message in bytes, and maxText of a text in it.
const (
	maxMessage = 256 << 10
	maxText    = 8 << 10
)

// proper reports whether an agent with that process ID can have sent it.
func (h *hello) proper(process string) bool {
	own, membership, ok := strings.Cut(h.ID, ".")
	facts, err := json.Marshal(h)
	return ok && err == nil && len(facts) <= maxMessage && broker.ValidID(process) && own == process && h.Process == process && broker.ValidID(membership) &&
		h.Name != "" && max(len(h.Name), len(h.Connection), len(h.Objection), len(h.Coordinator)) <= maxText
}

// welcome answers hello.
type welcome struct {
	Coordinator string      `json:"coordinator"` // its ID
	Host        string      `json:"host"`        // where it runs
	Tool        result.Tool `json:"tool"`
	Timing      Timing      `json:"timing"`
	Needs       allow.Needs `json:"needs"` // needs of its runs
	Refusal     refusal     `json:"refusal,omitempty"`
}

// refusal is the reason why an agent may not join.
type refusal string

const (
	otherVersion refusal = "version" // it is another tsmark
	nameTaken    refusal = "name"    // a member has the same name
	enough       refusal = "enough"  // the requested number of agents has joined
	unseen       refusal = "needs"   // it has not checked the needs yet
	disallowed   refusal = "allow"   // it does not permit the needs
)

// beat is the heartbeat of a member.
type beat struct {
	Command string `json:"command,omitempty"`
	Done    int64  `json:"done,omitempty"` // rows or queries
}

// about is a text about a command of a member.
type about struct {
	Command string `json:"command,omitempty"`
	Text    string `json:"text,omitempty"`
	Final   bool   `json:"final,omitempty"` // of a release: the run is over
}

// order is a command with the phase that it belongs to.
type order struct {
	Phase   string  `json:"phase"`
	Command Command `json:"command"`
}

// start is the common start time.
type start struct {
	Command string `json:"command"`
	At      int64  `json:"at"` // by the member's clock
}

// done is the outcome of a command.
type done struct {
	Command string `json:"command"`
	Error   string `json:"error,omitempty"`
	Size    int64  `json:"size,omitempty"`  // bytes of the result, which was sent before; 0: no result
	Began   int64  `json:"began,omitempty"` // by the member's clock; 0: it did not start
	Skew    int64  `json:"skew,omitempty"`
}

// shares are values of Task.Share.
type shares struct {
	Command string           `json:"command"`
	Values  map[string]int64 `json:"values"`
}

// pulse is the heartbeat of a coordinator, with the minimums of its phases.
type pulse struct {
	Least map[string]map[string]int64 `json:"least,omitempty"` // by phase and name
}

// tick is the time of a member's clock.
type tick struct {
	Received int64 `json:"received"`
	Answered int64 `json:"answered"`
}

// answer says whether a request was accepted.
type answer struct {
	Error string `json:"error,omitempty"`
}

// send sends a message, which may be lost.
func send(c *nats.Conn, subject string, m any) {
	if text, err := json.Marshal(m); err == nil {
		_ = c.Publish(subject, text) // important messages are sent again
	}
}

// reply answers a request.
func reply(m *nats.Msg, v any) {
	if text, err := json.Marshal(v); err == nil {
		_ = m.Respond(text) // the requester repeats an unanswered request
	}
}

// request repeats a request until it is answered, as untilAnswered does.
func request(ctx context.Context, c *nats.Conn, subject string, m any, each time.Duration) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if limit := c.MaxPayload(); limit > 0 && int64(len(text)) > limit {
		return fmt.Errorf("a command of %d bytes is larger than the %d that the NATS server takes; raise its max_payload", len(text), limit)
	}
	return untilAnswered(ctx, each, func(ctx context.Context) (*nats.Msg, error) { return c.RequestWithContext(ctx, subject, text) })
}

// requestOnce sends a request once and waits for the answer up to the given time.
func requestOnce(ctx context.Context, c *nats.Conn, subject string, text []byte, patience time.Duration) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.RequestWithContext(ctx, subject, text)
}

// wait waits for the given time or until ctx ends, and then returns its cause.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// read reads a message; it ignores malformed messages.
func read[T any](m *nats.Msg, take func(T)) {
	var v T
	if json.Unmarshal(m.Data, &v) == nil {
		take(v)
	}
}

// subjectOf returns a member's subject for messages to its coordinator.
func subjectOf(subject, coordinator, member string) string {
	return fmt.Sprintf(subject, coordinator, member)
}

// senderOf returns the member that sent a message to a coordinator: its process and its membership.
func senderOf(m *nats.Msg) string {
	parts := strings.Split(m.Subject, ".")
	if len(parts) != 6 {
		return ""
	}
	return parts[3] + "." + parts[4]
}
