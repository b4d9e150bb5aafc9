package agents

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/agents/broker"
	"github.com/tsmark/tsmark/run/allow"
)

// Agent is the configuration of an agent and its description of itself.
type Agent struct {
	URL  string      // of the NATS server, as errors show it
	Name string      // unique among the coordinator's agents
	Host result.Host // the machine
	Tool result.Tool // this program; the coordinator must run the same version
	Once bool        // end once a coordinator has released the agent at the end of its run
	// Allow returns an error, of one line, unless the agent permits a coordinator's needs; nil: all
	// are permitted. It only detects early that a run would fail: the Work must check again.
	Allow func(allow.Needs) error
	Dir   string // folder for result files; empty: the folder for temporary files
	// Patience is the time between two attempts to find a server or a coordinator; 0: a
	// second.
	Patience time.Duration
	Say      func(string)     // receives a line about each event; nil: none
	Now      func() time.Time // the clock, for tests; nil: the machine's, monotonic from now on
}

// Causes of the end of Work.Do's context, in addition to the cause of Serve's.
var (
	ErrCoordinatorGone = errors.New("nothing is heard of the coordinator any longer")
	ErrReleased        = errors.New("the coordinator released this agent")
)

// Serve joins a coordinator at the server and executes its commands; then it waits for the next
// one. It ends with ctx, and returns the cause once the current command has ended. With a.Once it
// returns nil after a release. It returns an error, in a line that says how to fix it, if the
// server refuses the agent, if the coordinator is another program, or if a stopped command does not
// end.
func (a Agent) Serve(ctx context.Context, b Broker, work Work) error {
	if a.Patience == 0 {
		a.Patience = time.Second
	}
	if a.Say == nil {
		a.Say = func(string) {}
	}
	if a.Now == nil {
		a.Now = steady()
	}
	process := rand.Text()
	connection := "tsmark agent " + process
	c, err := a.connect(ctx, b, connection, process)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		m, err := a.join(ctx, b, c, hello{Name: a.Name, Process: process, Connection: connection, Host: a.Host, Tool: a.Tool}, work)
		if err != nil {
			return err
		}
		a.Say("joined the coordinator on " + m.welcome.Host)
		final, err := m.serve(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errStuck):
			return err
		case c.IsClosed(): // only happens if the server refuses the agent
			return broker.NewAccessError(a.URL)
		case final && a.Once:
			return nil
		}
		a.Say(err.Error() + "; waiting for a coordinator")
	}
}

// connect waits for a server.
func (a Agent) connect(ctx context.Context, b Broker, name, process string) (*nats.Conn, error) {
	for said := false; ; said = true {
		c, err := b.Connect(ctx, name, process)
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil, context.Cause(ctx)
		case !errors.Is(err, broker.ErrUnreachable):
			return c, err
		}
		if !said {
			a.Say("waiting for a NATS server at " + a.URL)
		}
		if err := wait(ctx, a.Patience); err != nil {
			return nil, err
		}
	}
}

// join waits until a coordinator accepts the agent.
func (a Agent) join(ctx context.Context, b Broker, c *nats.Conn, h hello, work Work) (*membership, error) {
	h.ID = h.Process + "." + rand.Text() // one for all attempts: an earlier attempt may have succeeded at the coordinator
	for said := ""; ; {
		m, why, err := a.tryJoin(ctx, b, c, h, work)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case c.IsClosed():
			return nil, broker.NewAccessError(a.URL)
		case err != nil || m != nil:
			return m, err
		}
		if why != said {
			said = why
			a.Say(why)
		}
		if err := wait(ctx, a.Patience); err != nil {
			return nil, err
		}
	}
}

// tryJoin tries to join a coordinator; without a membership it returns the reason. A permanent
// reason is an error.
func (a Agent) tryJoin(ctx context.Context, b Broker, c *nats.Conn, h hello, work Work) (_ *membership, why string, err error) {
	m := &membership{agent: a, broker: b, work: work, id: h.ID, control: c, joined: make(chan struct{}), seen: map[string]bool{}}
	m.ctx, m.end = context.WithCancelCause(context.Background())
	defer func() {
		if err != nil || why != "" {
			m.close()
		}
	}()
	if err := m.subscribe(); err != nil {
		return nil, "", err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, "", err
	}
	got, err := requestOnce(ctx, c, fmt.Sprintf(joinSubject, h.Process), text, max(a.Patience, time.Second))
	if err != nil || json.Unmarshal(got.Data, &m.welcome) != nil {
		return nil, "waiting for a coordinator at " + a.URL, nil
	}
	w := m.welcome
	switch {
	case w.Refusal == unseen && h.Coordinator != "": // there are several coordinators, and another one answered
		return nil, "waiting for a coordinator at " + a.URL, nil
	case w.Refusal == unseen:
		h.Coordinator, h.Objection = w.Coordinator, ""
		if a.Allow != nil {
			if err := a.Allow(w.Needs); err != nil {
				h.Objection = err.Error()
			}
		}
		m.close()
		return a.tryJoin(ctx, b, c, h, work)
	case w.Refusal == disallowed:
		return nil, fmt.Sprintf("the coordinator on %s cannot use this agent: %s", w.Host, h.Objection), nil
	case w.Refusal == otherVersion || !sameProgram(a.Tool, w.Tool):
		return nil, "", fmt.Errorf("the coordinator on %s does not take this agent: %s", w.Host, otherProgram(a.Tool, w.Tool))
	case w.Refusal == nameTaken:
		return nil, fmt.Sprintf("the coordinator on %s has an agent %s already; waiting until it is gone, or give another name", w.Host, a.Name), nil
	case w.Refusal == enough:
		return nil, fmt.Sprintf("the coordinator on %s has all agents that it needs; waiting", w.Host), nil
	case w.Refusal != "":
		return nil, "", fmt.Errorf("the coordinator on %s does not take this agent: %s", w.Host, w.Refusal)
	}
	m.heard = time.Now()
	close(m.joined)
	if err := m.hear(pulseSubject, w.Coordinator, func(msg *nats.Msg) { read(msg, m.handlePulse) }); err != nil {
		return nil, "", err
	}
	return m, "", nil
}

// membership is an agent's time with one coordinator.
type membership struct {
	agent   Agent
	broker  Broker
	work    Work
	id      string
	control *nats.Conn
	welcome welcome
	joined  chan struct{}   // closed once welcome is set
	ctx     context.Context // ends with the membership; its cause says why
	end     context.CancelCauseFunc
	tasks   sync.WaitGroup
	heeded  []*nats.Subscription

	transferring sync.Mutex
	bulk         *nats.Conn // for results; nil: not connected yet

	mu    sync.Mutex
	heard time.Time       // when the coordinator was last heard of
	task  *task           // current command; nil: none
	seen  map[string]bool // commands received so far
	final bool            // released, and the run is over
	least map[string]map[string]int64
}

// errStuck is the error for a stopped command that does not end. Only the end of the process ends
// it.
var errStuck = errors.New("its command was stopped but continues; the agent ends to end it")

func (m *membership) subscribe() error {
	for subject, take := range map[string]nats.MsgHandler{
		clockSubject: func(msg *nats.Msg) {
			received := m.agent.Now()
			reply(msg, tick{received.UnixNano(), m.agent.Now().UnixNano()})
		},
		doSubject:      onceJoined(m, func(msg *nats.Msg, o order) { reply(msg, m.take(o)) }),
		startSubject:   onceJoined(m, func(msg *nats.Msg, s start) { m.handleStart(s); reply(msg, answer{}) }),
		stopSubject:    onceJoined(m, func(msg *nats.Msg, a about) { m.handleStop(a); reply(msg, answer{}) }),
		releaseSubject: onceJoined(m, func(msg *nats.Msg, a about) { reply(msg, answer{}); m.handleRelease(a) }),
	} {
		if err := m.hear(subject, m.id, take); err != nil {
			return err
		}
	}
	return nil
}

// onceJoined handles messages that may arrive before the coordinator's welcome was read, such as the
// first command: they wait for it.
func onceJoined[T any](m *membership, take func(*nats.Msg, T)) nats.MsgHandler {
	return func(msg *nats.Msg) {
		select {
		case <-m.joined:
			read(msg, func(v T) { take(msg, v) })
		case <-m.ctx.Done():
		}
	}
}

// send sends the coordinator a message, which may be lost.
func (m *membership) send(subject string, v any) {
	send(m.control, subjectOf(subject, m.welcome.Coordinator, m.id), v)
}

// process returns the ID of the agent's process.
func (m *membership) process() string {
	process, _, _ := strings.Cut(m.id, ".")
	return process
}

// hear handles the messages of a subject until the membership ends.
func (m *membership) hear(subject, id string, take nats.MsgHandler) error {
	s, err := m.control.Subscribe(fmt.Sprintf(subject, id), take)
	if err == nil {
		m.heeded = append(m.heeded, s)
	}
	return err
}

// serve executes commands until the membership ends, and returns the reason and whether the run is
// over.
func (m *membership) serve(ctx context.Context) (final bool, why error) {
	defer m.close()
	unhook := context.AfterFunc(ctx, func() { m.end(context.Cause(ctx)) })
	defer unhook()
	beats, quit := context.WithCancel(context.Background())
	m.tasks.Go(func() { m.beat(beats) })
	<-m.ctx.Done()
	why = context.Cause(m.ctx)
	ended := make(chan struct{}) // closed when the current command, stopped by m.ctx, has ended
	go func() {
		m.mu.Lock()
		t := m.task
		m.mu.Unlock()
		if t != nil {
			<-t.ended
		}
		close(ended)
	}()
	patience := m.welcome.Timing.halt()
	if ctx.Err() != nil { // the coordinator is connected and must be informed
		patience = m.welcome.Timing.Stop
	}
	select {
	case <-ended:
	case <-time.After(patience):
		why = errStuck
	}
	stuck := errors.Is(why, errStuck)
	if ctx.Err() != nil || stuck {
		m.send(leaveSubject, about{Text: why.Error()})
		_ = m.control.FlushTimeout(m.welcome.Timing.Beat) // a coordinator that misses it notices the silence
	}
	quit()
	if !stuck {
		m.tasks.Wait()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.final, why
}

func (m *membership) close() {
	m.end(nil)
	for _, s := range m.heeded {
		_ = s.Unsubscribe() // the connection may have ended
	}
	m.transferring.Lock()
	defer m.transferring.Unlock()
	if m.bulk != nil {
		m.bulk.Close()
	}
}

// beat sends heartbeats, and notices when the coordinator's heartbeats stop.
func (m *membership) beat(ctx context.Context) {
	t := m.welcome.Timing
	for last := time.Now(); ; last = time.Now() {
		m.mu.Lock()
		var b beat
		if m.task != nil {
			b.Command, b.Done = m.task.command.ID, m.task.progress.Load()
		}
		if time.Since(last) > t.Lost/2 { // this process was suspended and could not receive anything
			m.heard = time.Now()
		}
		silence, task := time.Since(m.heard), m.task
		m.mu.Unlock()
		m.send(beatSubject, b)
		if task != nil {
			task.send(true) // a lost value is sent again
		}
		switch {
		case silence > t.Lost:
			m.end(ErrCoordinatorGone)
		case m.control.IsClosed():
			m.end(broker.NewAccessError(m.agent.URL))
		}
		if wait(ctx, t.Beat) != nil {
			return
		}
	}
}

// handlePulse handles a heartbeat of the coordinator.
func (m *membership) handlePulse(p pulse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard = time.Now()
	m.least = p.Least
}

// take accepts a command.
func (m *membership) take(o order) answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.seen[o.Command.ID]:
		return answer{} // repeated request
	case m.task != nil:
		return answer{"it has a command already"}
	case m.ctx.Err() != nil:
		return answer{context.Cause(m.ctx).Error()}
	}
	m.seen[o.Command.ID] = true
	t := newTask(m, o)
	m.task = t
	m.tasks.Go(t.execute)
	return answer{}
}

// current returns the task of a command; nil: it has ended.
func (m *membership) current(command string) *task {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.task != nil && m.task.command.ID == command {
		return m.task
	}
	return nil
}

func (m *membership) handleStart(s start) {
	if t := m.current(s.Command); t != nil {
		select {
		case t.start <- s.At:
		default: // repeated message
		}
	}
}

// handleStop stops a command, even if the command has not arrived yet.
func (m *membership) handleStop(a about) {
	if t := m.current(a.Command); t != nil {
		t.stop(errors.New(a.Text))
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.seen[a.Command] && m.ctx.Err() == nil {
		m.seen[a.Command] = true
		m.tasks.Go(func() { m.reportOutcome(done{Command: a.Command, Error: a.Text}) })
	}
}

// reportOutcome reports the outcome of a command to the coordinator, if it still exists.
func (m *membership) reportOutcome(d done) {
	_ = request(m.ctx, m.control, subjectOf(doneSubject, m.welcome.Coordinator, m.id), d, 2*m.welcome.Timing.Beat)
}

func (m *membership) handleRelease(a about) {
	m.mu.Lock()
	m.final = m.final || a.Final
	m.mu.Unlock()
	m.end(fmt.Errorf("%w: %s", ErrReleased, a.Text))
}
