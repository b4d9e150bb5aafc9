package agents

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/allow"
)

// Broker is the NATS server that coordinator and agents connect to: broker.Server or broker.Remote.
type Broker interface {
	// Connect makes a connection of that name, which reconnects whenever it breaks. agent is the
	// process of an agent, empty for a coordinator.
	Connect(ctx context.Context, name, agent string) (*nats.Conn, error)
	// IsConnected reports whether a connection of that name exists, if known.
	IsConnected(name string) (exists, known bool)
}

// Options are the options of a coordinator.
type Options struct {
	Agents int              // maximum number of members
	Tool   result.Tool      // this program; agents must run the same version
	Host   string           // name of this machine, shown by agents
	Needs  allow.Needs      // what agents must allow
	Dir    string           // folder for result files; empty: the folder for temporary files
	Timing Timing           // zero: DefaultTiming
	Say    func(string)     // receives a line about each agent that joins or leaves; nil: none
	Now    func() time.Time // the clock, for tests; nil: the machine's, monotonic from now on
}

// Coordinator executes commands on agents. Its methods may be called by several goroutines.
type Coordinator struct {
	options Options
	id      string
	broker  Broker
	control *nats.Conn
	bulk    *nats.Conn      // for results, which would delay other messages
	ctx     context.Context // ends with Close
	end     context.CancelFunc
	tasks   sync.WaitGroup
	shared  chan struct{} // has an element if a minimum may have risen

	joins *nats.Subscription // requests to join; nil: not subscribed yet

	mu         sync.Mutex
	closing    bool // requests to join get no answer
	members    map[string]*member
	lost       map[string]*Lost // former members
	phases     map[string]*phase
	commandIDs map[string]bool   // IDs of commands
	refused    map[string]string // why agents were refused, by name
	// requested are the processes that have requested to join. The earlier work of such a process has
	// ended, because a process does one thing at a time; it may already work for this coordinator
	// again.
	requested map[string]bool
	stopBy    map[string]time.Time // processes lost during a command, and the time until which they may continue it
	changed   chan struct{}        // closed and replaced when the members change
}

// member is an agent as its coordinator knows it.
type member struct {
	hello
	clocks clocks
	first  Clock
	met    bool      // its clock was measured
	heard  time.Time // time of the last message
	run    *run      // current command; nil: none
	gone   context.Context
	leave  context.CancelFunc
}

// steady returns the machine's clock without adjustments.
func steady() func() time.Time {
	base := time.Now()
	return func() time.Time { return base.Add(time.Since(base)) }
}

// NewCoordinator starts to accept agents. The caller must close it, and the broker.
func NewCoordinator(ctx context.Context, b Broker, o Options) (*Coordinator, error) {
	if o.Timing == (Timing{}) {
		o.Timing = DefaultTiming()
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.Now == nil {
		o.Now = steady()
	}
	c := &Coordinator{
		options: o, id: rand.Text(), broker: b, shared: make(chan struct{}, 1), changed: make(chan struct{}),
		members: map[string]*member{}, lost: map[string]*Lost{}, phases: map[string]*phase{}, commandIDs: map[string]bool{}, refused: map[string]string{},
		requested: map[string]bool{}, stopBy: map[string]time.Time{},
	}
	c.ctx, c.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := c.connect(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.tasks.Go(c.pulse)
	c.tasks.Go(c.watch)
	return c, nil
}

func (c *Coordinator) connect(ctx context.Context) (err error) {
	if c.control, err = c.broker.Connect(ctx, "tsmark coordinator "+c.id, ""); err != nil {
		return err
	}
	if c.bulk, err = c.broker.Connect(ctx, "tsmark results "+c.id, ""); err != nil {
		return err
	}
	for subject, take := range map[string]nats.MsgHandler{
		beatSubject:  receive(c, c.beaten),
		shareSubject: receive(c, c.shares),
		readySubject: receive(c, c.ready),
		doneSubject:  receive(c, c.handleDone),
		leaveSubject: receive(c, c.handleLeave),
	} {
		if _, err := c.control.Subscribe(fmt.Sprintf(subject, c.id, "*.*"), take); err != nil {
			return err
		}
	}
	if _, err := c.bulk.Subscribe(fmt.Sprintf(chunkSubject, c.id, "*.*"), c.chunk); err != nil {
		return err
	}
	c.joins, err = c.control.QueueSubscribe(fmt.Sprintf(joinSubject, "*"), coordinators, func(m *nats.Msg) {
		read(m, func(h hello) {
			if !h.proper(strings.TrimPrefix(m.Subject, fmt.Sprintf(joinSubject, ""))) {
				return // malformed request, not from an agent
			}
			if w, ok := c.join(h); ok {
				reply(m, w)
			}
		})
	})
	return err
}

// receive handles messages of members, and answers requests. A member that sends a malformed
// message is removed: take returns the reason, or an empty string. The lock is not held.
func receive[T any](c *Coordinator, take func(member string, v T) string) nats.MsgHandler {
	return func(m *nats.Msg) {
		var v T
		sender, wrong := senderOf(m), "it cannot be read"
		if len(m.Data) > maxMessage {
			wrong = fmt.Sprintf("it has %d bytes", len(m.Data))
		} else if json.Unmarshal(m.Data, &v) == nil {
			wrong = take(sender, v)
		}
		if wrong != "" {
			c.Dismiss(sender, "a message that no agent sends: "+wrong)
			return
		}
		if m.Reply != "" {
			reply(m, answer{})
		}
	}
}

// Dismiss removes an agent that sent a malformed message.
func (c *Coordinator) Dismiss(member, sent string) {
	c.mu.Lock()
	m := c.members[member]
	c.mu.Unlock()
	if m == nil {
		return
	}
	c.lose(m, &Lost{Name: m.Name, How: Malformed, Text: sent})
	send(c.control, fmt.Sprintf(releaseSubject, member), about{Text: "it sent " + sent})
}

// join accepts an agent or refuses it with a reason; false: the coordinator is closing and does not
// answer.
func (c *Coordinator) join(h hello) (w welcome, ok bool) {
	w = welcome{Coordinator: c.id, Host: c.options.Host, Tool: c.options.Tool, Timing: c.options.Timing, Needs: c.options.Needs}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.requested[h.Process] && len(c.requested) < mostKnown || !c.stopBy[h.Process].IsZero() {
		c.requested[h.Process] = true
		delete(c.stopBy, h.Process)
		c.alter()
	}
	switch {
	case c.closing:
		return w, false
	case !sameProgram(h.Tool, c.options.Tool):
		w.Refusal = otherVersion
		c.refuse(h.Name, otherProgram(h.Tool, c.options.Tool))
	case h.Coordinator != c.id:
		w.Refusal = unseen
	case h.Objection != "":
		w.Refusal = disallowed
		c.refuse(h.Name, h.Objection)
	case c.members[h.ID] != nil: // repeated request
	case slices.ContainsFunc(slices.Collect(maps.Values(c.members)), func(m *member) bool { return m.Name == h.Name }):
		w.Refusal = nameTaken
	case len(c.members) >= c.options.Agents:
		w.Refusal = enough
	default:
		m := &member{hello: h, heard: time.Now()}
		m.gone, m.leave = context.WithCancel(c.ctx)
		c.members[h.ID] = m
		c.tasks.Go(func() { c.meet(m) })
	}
	return w, true
}

// mostKnown is the maximum number of processes, and of lost members, that a coordinator remembers.
const mostKnown = 100_000

// mostRefused is the maximum number of agents with a remembered refusal.
const mostRefused = 1000

// refuse reports the refusal of an agent once; the agent repeats its request each second. The lock
// is held.
func (c *Coordinator) refuse(name, why string) {
	if c.refused[name] == why {
		return
	}
	if len(c.refused) >= mostRefused {
		clear(c.refused)
	}
	c.refused[name] = why
	c.options.Say(fmt.Sprintf("agent %s was refused: %s", name, why))
}

// sameProgram reports whether two programs are the same version of tsmark, regardless of the
// compiler.
func sameProgram(a, b result.Tool) bool { return a.Version == b.Version && a.Commit == b.Commit }

// otherProgram says how an agent's program differs from its coordinator's.
func otherProgram(agent, coordinator result.Tool) string {
	return fmt.Sprintf("it is tsmark %s, and the coordinator is tsmark %s; install the same version on both", agent, coordinator)
}

// meetings is the number of exchanges to measure the clock of a new member.
const meetings = 8

// meet measures a member's clock, and again with every heartbeat.
func (c *Coordinator) meet(m *member) {
	for n := 0; ; n++ {
		if n >= meetings && wait(m.gone, c.options.Timing.Beat) != nil {
			return
		}
		if !c.exchange(m) {
			if wait(m.gone, c.options.Timing.Beat/4) != nil {
				return
			}
			n--
			continue
		}
		if n == meetings-1 {
			c.mu.Lock()
			m.first, m.met = m.clocks.estimateAt(c.options.Now()), true
			c.alter()
			c.mu.Unlock()
			c.options.Say(fmt.Sprintf("agent %s joined: %d cores, round trip %v, clock %v ahead (±%v)", m.Name, m.Host.Cores, m.first.RoundTrip, m.first.Offset, m.first.Uncertainty))
		}
	}
}

// mostOffset is the maximum offset of a member's clock: beyond it no certificate would be valid.
const mostOffset = 50 * 365 * 24 * time.Hour

// exchange measures a member's clock once.
func (c *Coordinator) exchange(m *member) bool {
	sent := c.options.Now()
	got, err := requestOnce(m.gone, c.control, fmt.Sprintf(clockSubject, m.ID), nil, c.options.Timing.Beat)
	back := c.options.Now()
	if err != nil {
		return false
	}
	var t tick
	if json.Unmarshal(got.Data, &t) != nil || t.Answered < t.Received || t.Answered-t.Received > int64(back.Sub(sent)) || time.Unix(0, t.Received).Sub(sent).Abs() > mostOffset {
		c.Dismiss(m.ID, "a message that no agent sends: its clock cannot be read")
		return false
	}
	m.clocks.add(exchange{sent, time.Unix(0, t.Received), time.Unix(0, t.Answered), back})
	c.mu.Lock()
	m.heard = time.Now()
	c.mu.Unlock()
	return true
}

// alter signals a change of the members. The lock is held.
func (c *Coordinator) alter() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Await waits until n agents have joined. It calls say with their number whenever that changes.
func (c *Coordinator) Await(ctx context.Context, n int, say func(have int)) error {
	for said := -1; ; {
		c.mu.Lock()
		changed, have := c.changed, len(c.present())
		c.mu.Unlock()
		if have >= n {
			return nil
		}
		if have != said {
			said = have
			say(have)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

// present returns the members with measured clocks, by name. The lock is held.
func (c *Coordinator) present() []*member {
	all := slices.Collect(maps.Values(c.members))
	all = slices.DeleteFunc(all, func(m *member) bool { return !m.met })
	slices.SortFunc(all, func(a, b *member) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Members returns the current members by name.
func (c *Coordinator) Members() []Member {
	now := c.options.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []Member
	for _, m := range c.present() {
		list = append(list, Member{ID: m.ID, Name: m.Name, Process: m.Process, Host: m.Host, Tool: m.Tool, Clock: m.clocks.estimateAt(now), First: m.first})
	}
	return list
}

// heardOf returns the member that sent a message; nil: the sender is not a member, and is told to
// stop. The lock is held.
func (c *Coordinator) heardOf(id string) *member {
	m := c.members[id]
	if m == nil {
		if id == "" {
			return nil
		}
		send(c.control, fmt.Sprintf(releaseSubject, id), about{Text: "the coordinator counts it as lost"})
		return nil
	}
	m.heard = time.Now()
	return m
}

func (c *Coordinator) beaten(member string, b beat) string {
	c.mu.Lock()
	m := c.heardOf(member)
	if m == nil || m.run == nil || m.run.command.ID != b.Command || m.run.progress >= b.Done {
		c.mu.Unlock()
		return ""
	}
	r := m.run
	r.progress = b.Done
	c.mu.Unlock()
	r.phase.notify(func(o Observer) { o.Progress(m.ID, b.Done) })
	return ""
}

// handleLeave handles the message of an agent that ends.
func (c *Coordinator) handleLeave(member string, a about) string {
	c.mu.Lock()
	m := c.members[member]
	c.mu.Unlock()
	if m != nil {
		c.lose(m, &Lost{Name: m.Name, How: Said, Text: a.Text})
	}
	return ""
}

// lose removes a member and ends its run.
func (c *Coordinator) lose(m *member, why *Lost) {
	c.mu.Lock()
	if c.members[m.ID] != m {
		c.mu.Unlock()
		return
	}
	delete(c.members, m.ID)
	if len(c.lost) >= mostKnown {
		clear(c.lost) // losses during commands are recorded in their runs
	}
	c.lost[m.ID] = why
	if m.run != nil && !m.run.delivered && why.How != Said {
		c.stopBy[m.Process] = m.heard.Add(c.options.Timing.StopWithin())
	}
	m.leave()
	c.alter()
	r := m.run
	if r != nil && r.delivered {
		r = nil // its result is at the server and will arrive
	}
	c.mu.Unlock()
	c.options.Say(why.Error())
	if r == nil {
		return
	}
	r.phase.notify(func(o Observer) { o.MemberLost(m.ID, why) })
	c.mu.Lock()
	r.finish(Outcome{Err: why})
	c.mu.Unlock()
}

// HasRequested reports whether the process has requested to join this coordinator, whatever the answer.
// Its work for an earlier coordinator has then ended.
func (c *Coordinator) HasRequested(process string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requested[process]
}

// standstill is a period in which the coordinator itself was suspended or starved.
type standstill struct {
	lasted time.Duration
	until  time.Time
}

// explains reports whether the standstill caused the loss of a member that was last heard at the
// given time: messages that the member sent before it left arrive at the end.
func (s standstill) explains(heard time.Time, t Timing) bool {
	return s.lasted > t.Lost-t.Beat && heard.Sub(s.until) < t.Beat
}

// watch detects lost members.
func (c *Coordinator) watch() {
	t := c.options.Timing
	var pause standstill
	for last := time.Now(); wait(c.ctx, t.Beat/2) == nil; last = time.Now() {
		// A coordinator that was suspended or starved has received nothing.
		suspended := time.Since(last) > t.Beat/2+t.Lost/2
		if suspended {
			pause = standstill{time.Since(last), time.Now()}
		}
		silent, heard := map[*member]time.Duration{}, map[*member]time.Time{}
		c.mu.Lock()
		for _, m := range c.members {
			if suspended {
				m.heard = time.Now()
			}
			if since := time.Since(m.heard); since > t.Lost {
				silent[m], heard[m] = since, m.heard
			}
		}
		c.mu.Unlock()
		for m, since := range silent {
			why := &Lost{Name: m.Name, How: Silent, Silence: since}
			if exists, known := c.broker.IsConnected(m.Connection); known && !exists {
				why.How = Gone
			}
			if pause.explains(heard[m], t) {
				why.Suspended = pause.lasted
			}
			c.lose(m, why)
		}
	}
}

// pulse sends the coordinator's heartbeats to the members, with the minimums of the shared values.
func (c *Coordinator) pulse() {
	t := c.options.Timing
	beats := time.NewTicker(t.Beat)
	defer beats.Stop()
	for {
		due := false
		select {
		case <-c.ctx.Done():
			return
		case <-beats.C:
			due = true
		case <-c.shared:
		}
		c.mu.Lock()
		var p pulse
		for id, ph := range c.phases {
			least, rose := ph.leastNow()
			due = due || rose
			if len(least) > 0 {
				if p.Least == nil {
					p.Least = map[string]map[string]int64{}
				}
				p.Least[id] = least
			}
		}
		c.mu.Unlock()
		if due {
			send(c.control, fmt.Sprintf(pulseSubject, c.id), p)
			if wait(c.ctx, t.Share) != nil {
				return
			}
		}
	}
}

// Close releases the agents, which then wait for another coordinator or end, and removes remaining
// result files. No command may be running.
func (c *Coordinator) Close() error {
	// This comes first, because a released agent requests to join again at once.
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	if c.joins != nil {
		_ = c.joins.Unsubscribe() // the connection may have ended
	}
	if c.control != nil {
		ctx, cancel := context.WithTimeout(c.ctx, c.options.Timing.Lost)
		var releases sync.WaitGroup
		c.mu.Lock()
		for id := range c.members {
			releases.Go(func() {
				_ = request(ctx, c.control, fmt.Sprintf(releaseSubject, id), about{Text: "the run is over", Final: true}, c.options.Timing.Beat) // an agent that misses it notices the silence
			})
		}
		c.mu.Unlock()
		releases.Wait()
		cancel()
	}
	c.end()
	c.tasks.Wait()
	for _, conn := range []*nats.Conn{c.control, c.bulk} {
		if conn != nil {
			conn.Close()
		}
	}
	return nil
}
