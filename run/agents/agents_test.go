package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/agents/broker"
)

// quick is a timing for tests: it detects a lost agent within half a second.
func quick() Timing {
	return Timing{Beat: 50 * time.Millisecond, Lost: 500 * time.Millisecond, Share: 5 * time.Millisecond, Margin: 50 * time.Millisecond, Stop: 5 * time.Second}
}

var tool = result.Tool{Version: "v1.2.3", Commit: "abc", Go: "go1.26"}

// workFunc is Work by a function.
type workFunc func(ctx context.Context, c Command, t Task) error

func (f workFunc) Do(ctx context.Context, c Command, t Task) error { return f(ctx, c, t) }

// echo writes the command's body back.
var echo = workFunc(func(_ context.Context, c Command, t Task) error {
	_, err := t.Write(c.Body)
	return err
})

// lines collects messages.
type lines struct {
	mu   sync.Mutex
	list []string
}

func (l *lines) say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, text)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.list, "\n")
}

// place starts a server.
func place(t testing.TB, access broker.Access) *broker.Server {
	t.Helper()
	s, err := broker.Start(t.Context(), broker.Options{Listen: "127.0.0.1:0", Access: access, Agents: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// coordinator starts one at a server.
func coordinator(t testing.TB, s Broker, o Options) *Coordinator {
	t.Helper()
	o.Tool, o.Host, o.Dir = tool, "here", t.TempDir()
	if o.Timing == (Timing{}) {
		o.Timing = quick()
	}
	c, err := NewCoordinator(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// served is a running agent.
type served struct {
	lines
	stop  context.CancelCauseFunc
	ended chan struct{}
	err   error
}

// serve starts an agent of that name at a URL.
func serve(t testing.TB, url string, a Agent, access broker.Access, work Work) *served {
	t.Helper()
	s := &served{ended: make(chan struct{})}
	ctx, stop := context.WithCancelCause(context.Background())
	s.stop = stop
	a.URL, a.Patience, a.Say, a.Dir = url, 20*time.Millisecond, s.say, t.TempDir()
	if a.Tool == (result.Tool{}) {
		a.Tool = tool
	}
	go func() {
		defer close(s.ended)
		s.err = a.Serve(ctx, broker.Remote{URL: url, Access: access}, work)
	}()
	t.Cleanup(func() {
		stop(errors.New("the test is over"))
		s.wait(t)
		if left, err := os.ReadDir(a.Dir); err != nil || len(left) > 0 {
			t.Errorf("agent %s left files behind: %v %v", a.Name, left, err)
		}
	})
	return s
}

// wait waits for its end.
func (s *served) wait(t testing.TB) error {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the agent does not end")
	}
	return s.err
}

// awaitMembers waits for the given number of agents.
func awaitMembers(t testing.TB, c *Coordinator, n int) []Member {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := c.Await(ctx, n, func(int) {}); err != nil {
		t.Fatal(err)
	}
	return c.Members()
}

// sameCommand gives each member the same command.
func sameCommand(members []Member, c Command) map[string]Command {
	commands := map[string]Command{}
	for _, m := range members {
		each := c
		each.ID = c.ID + "-" + m.Name
		commands[m.ID] = each
	}
	return commands
}

// content reads an outcome's result.
func content(t testing.TB, o Outcome) []byte {
	t.Helper()
	if o.Err != nil {
		t.Fatal(o.Err)
	}
	if o.File == "" {
		return nil
	}
	text, err := os.ReadFile(o.File)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// waitUntil waits until holds returns true.
func waitUntil(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// The observer learns of a command that fails after the common start while the others continue;
// their output arrives even if they are then stopped.
func TestFailed(t *testing.T) {
	s := place(t, broker.Access{})
	c := coordinator(t, s, Options{Agents: 2})
	fails := workFunc(func(ctx context.Context, c Command, t Task) error {
		_, err := t.Ready(ctx)
		return errors.Join(err, errors.New("the disk is full"))
	})
	serve(t, s.URL(), Agent{Name: "a"}, broker.Access{}, fails)
	serve(t, s.URL(), Agent{Name: "b"}, broker.Access{}, workFunc(func(ctx context.Context, c Command, t Task) error {
		_, err := t.Ready(ctx)
		if err != nil {
			return err
		}
		<-ctx.Done()
		_, err = t.Write([]byte("a part"))
		return errors.Join(err, context.Cause(ctx))
	}))
	members := awaitMembers(t, c, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	var reported []string
	w := watcher{fail: func(member string, err error) {
		reported = append(reported, member+": "+err.Error())
		cancel(errors.New("not whole"))
	}}
	outcomes, err := c.Do(ctx, sameCommand(members, Command{ID: "1", StartsTogether: true}), &w)
	if err == nil || err.Error() != "not whole" || !slices.Equal(reported, []string{members[0].ID + ": the disk is full"}) {
		t.Errorf("%v; told %v", err, reported)
	}
	o := outcomes[members[1].ID]
	if o.Err == nil || o.Err.Error() != "not whole" {
		t.Errorf("the other one: %v", o.Err)
	}
	o.Err = nil
	if got := content(t, o); string(got) != "a part" {
		t.Errorf("the other one wrote %q", got)
	}
}

// watcher is an Observer.
type watcher struct {
	mu   sync.Mutex
	done map[string]int64
	lost map[string]*Lost
	fail func(member string, err error) // nil: nothing
}

func (w *watcher) CommandFailed(member string, err error) {
	if w.fail != nil {
		w.fail(member, err)
	}
}

func (w *watcher) Progress(member string, done int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == nil {
		w.done = map[string]int64{}
	}
	w.done[member] = done
}

func (w *watcher) MemberLost(member string, why *Lost) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == nil {
		w.lost = map[string]*Lost{}
	}
	w.lost[member] = why
}

// An agent that is lost before it accepted its command counts as lost, even if its observer learns
// of that late.
func TestLostBeforeTheCommand(t *testing.T) {
	s := place(t, broker.Access{})
	p := newProxy(t, s.URL())
	c := coordinator(t, s, Options{Agents: 1})
	serve(t, p.url, Agent{Name: "a"}, broker.Access{}, echo)
	members := awaitMembers(t, c, 1)
	p.set(true, false)
	outcomes, err := c.Do(t.Context(), sameCommand(members, Command{ID: "1", StartsTogether: true}), slowObserver{})
	if got := outcomes[members[0].ID].Err; err != nil || !IsLost(got) {
		t.Errorf("%v, %v", got, err)
	}
}

// slowObserver processes losses slowly.
type slowObserver struct{ Observer }

func (slowObserver) MemberLost(string, *Lost) { time.Sleep(100 * time.Millisecond) }

// Commands reach each agent, and results arrive completely, including those larger than the largest
// message of NATS; files are removed once they were read.
func TestResults(t *testing.T) {
	s := place(t, broker.Access{})
	c := coordinator(t, s, Options{Agents: 3})
	big := make([]byte, 20<<20)
	for i := range big {
		big[i] = byte(rand.Uint32())
	}
	work := workFunc(func(_ context.Context, c Command, t Task) error {
		switch string(c.Body) {
		case "nothing":
			return nil
		case "fail":
			if _, err := io.WriteString(t, "as far as it came"); err != nil {
				return err
			}
			return errors.New("no such table")
		default:
			for part := range slices.Chunk(big, 1<<20) {
				if _, err := t.Write(part); err != nil {
					return err
				}
			}
			return nil
		}
	})
	for _, name := range []string{"a", "b", "c"} {
		serve(t, s.URL(), Agent{Name: name}, broker.Access{}, work)
	}
	members := awaitMembers(t, c, 3)
	commands := sameCommand(members, Command{ID: "1"})
	for i, body := range []string{"nothing", "fail", "big"} {
		command := commands[members[i].ID]
		command.Body = []byte(body)
		commands[members[i].ID] = command
	}
	outcomes, err := c.Do(t.Context(), commands, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o := outcomes[members[0].ID]; o.Err != nil || o.File != "" {
		t.Errorf("nothing: %+v", o)
	}
	o := outcomes[members[1].ID]
	if o.Err == nil || o.Err.Error() != "no such table" {
		t.Errorf("fail: %+v", o)
	}
	o.Err = nil
	if got := content(t, o); string(got) != "as far as it came" {
		t.Errorf("fail: %q", got)
	}
	if got := content(t, outcomes[members[2].ID]); !bytes.Equal(got, big) {
		t.Errorf("%d bytes came, and not those %d", len(got), len(big))
	}
	for what, wrong := range map[string]map[string]Command{
		"nobody":        {"nobody": {ID: "x"}},
		"the ID again":  {members[0].ID: {ID: "1-a"}},
		"no ID":         {members[0].ID: {}},
		"a large body":  {members[0].ID: {ID: "large", Body: make([]byte, MostBody+1)}},
		"one too large": {members[0].ID: {ID: "fits"}, members[1].ID: {ID: "large", Body: make([]byte, MostBody+1)}},
	} {
		if _, err := c.Do(t.Context(), wrong, nil); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	outcomes, err = c.Do(t.Context(), map[string]Command{members[0].ID: {ID: "largest", Body: make([]byte, MostBody)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, outcomes[members[0].ID]); len(got) != len(big) {
		t.Errorf("largest body: %d bytes", len(got))
	}
}

// All commands start at one instant, although one is ready later than the others and clocks differ
// by seconds; none starts before all are ready.
func TestOneInstant(t *testing.T) {
	s := place(t, broker.Access{})
	c := coordinator(t, s, Options{Agents: 4})
	var mu sync.Mutex
	began := map[string]time.Time{}
	var ready atomic.Int64
	for i, name := range []string{"a", "b", "c", "d"} {
		ahead := time.Duration(i*7-10) * time.Second
		now := steady()
		serve(t, s.URL(), Agent{Name: name, Now: func() time.Time { return now().Add(ahead) }}, broker.Access{}, workFunc(func(ctx context.Context, _ Command, t Task) error {
			time.Sleep(time.Duration(i) * 30 * time.Millisecond)
			ready.Add(1)
			instant, err := t.Ready(ctx)
			at := time.Now()
			if n := ready.Load(); n != 4 {
				return fmt.Errorf("begins when %d are ready", n)
			}
			if at.Before(instant) {
				return errors.New("Ready returns before the instant")
			}
			mu.Lock()
			defer mu.Unlock()
			began[name] = instant
			return err
		}))
	}
	members := awaitMembers(t, c, 4)
	for i, m := range members {
		ahead := time.Duration(i*7-10) * time.Second
		if off := (m.Clock.Offset - ahead).Abs(); m.Clock.Uncertainty <= 0 || off > m.Clock.Uncertainty {
			t.Errorf("the clock of %s is %v ahead, and found was %v ±%v", m.Name, ahead, m.Clock.Offset, m.Clock.Uncertainty)
		}
	}
	outcomes, err := c.Do(t.Context(), sameCommand(members, Command{ID: "1", StartsTogether: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	var first, last time.Time
	var sure time.Duration
	for _, m := range members {
		o := outcomes[m.ID]
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		if o.Skew < 0 || time.Since(o.Started).Abs() > time.Minute {
			t.Errorf("%s: skew %v, started %v", m.Name, o.Skew, o.Started)
		}
		sure = max(sure, o.Clock.Uncertainty)
		if at := began[m.Name]; first.IsZero() || at.Before(first) {
			first = at
		}
		if at := began[m.Name]; at.After(last) {
			last = at
		}
	}
	if apart := last.Sub(first); apart > 2*sure+time.Millisecond {
		t.Errorf("%v apart, which clocks that are uncertain by %v do not allow", apart, sure)
	}
}

// A phase with a common start is called off if one of its agents cannot start.
func TestCalledOff(t *testing.T) {
	s := place(t, broker.Access{})
	timing := quick()
	timing.Lost, timing.Stop = time.Minute, time.Minute // no agent is lost, however busy the machine is
	c := coordinator(t, s, Options{Agents: 2, Timing: timing})
	serve(t, s.URL(), Agent{Name: "a"}, broker.Access{}, workFunc(func(ctx context.Context, _ Command, t Task) error {
		_, err := t.Ready(ctx)
		return err
	}))
	serve(t, s.URL(), Agent{Name: "b"}, broker.Access{}, workFunc(func(context.Context, Command, Task) error { return errors.New("no such host") }))
	members := awaitMembers(t, c, 2)
	outcomes, err := c.Do(t.Context(), sameCommand(members, Command{ID: "1", StartsTogether: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := outcomes[members[0].ID].Err, outcomes[members[1].ID].Err
	if a == nil || a.Error() != "called off: no such host" || b == nil || b.Error() != "no such host" {
		t.Errorf("%v; %v", a, b)
	}
	if !outcomes[members[0].ID].CalledOff || outcomes[members[1].ID].CalledOff {
		t.Errorf("%+v", outcomes)
	}
}

// Another version is refused with a one-line explanation on both sides, and the agent ends.
func TestOtherVersion(t *testing.T) {
	s := place(t, broker.Access{})
	var said lines
	coordinator(t, s, Options{Agents: 1, Say: said.say})
	other := tool
	other.Version = "v1.2.4"
	a := serve(t, s.URL(), Agent{Name: "a", Tool: other}, broker.Access{}, echo)
	const why = "it is tsmark v1.2.4, commit abc, go1.26, and the coordinator is tsmark v1.2.3, commit abc, go1.26; install the same version on both"
	if err := a.wait(t); err == nil || err.Error() != "the coordinator on here does not take this agent: "+why {
		t.Errorf("the agent says: %v", err)
	}
	if got := said.String(); got != "agent a was refused: "+why {
		t.Errorf("the coordinator says: %s", got)
	}
	same := tool
	same.Go = "go1.27"
	if !sameProgram(tool, same) {
		t.Error("the compiler's version counts")
	}
}

// A second agent with the same name waits until the first is gone, and so does an agent beyond the
// requested number.
func TestTaken(t *testing.T) {
	s := place(t, broker.Access{})
	c := coordinator(t, s, Options{Agents: 2})
	first := serve(t, s.URL(), Agent{Name: "a"}, broker.Access{}, echo)
	awaitMembers(t, c, 1)
	second := serve(t, s.URL(), Agent{Name: "a"}, broker.Access{}, echo)
	waitUntil(t, "the second one says that its name is taken", func() bool { return strings.Contains(second.String(), "has an agent a already") })
	serve(t, s.URL(), Agent{Name: "b"}, broker.Access{}, echo)
	awaitMembers(t, c, 2)
	third := serve(t, s.URL(), Agent{Name: "c"}, broker.Access{}, echo)
	waitUntil(t, "the third one says that it is one too many", func() bool { return strings.Contains(third.String(), "all agents that it needs") })
	before := c.Members()[0].ID
	first.stop(errors.New("interrupted"))
	waitUntil(t, "another one takes its place", func() bool { all := c.Members(); return len(all) == 2 && all[0].ID != before })
}

// A released agent looks for another coordinator; the closing coordinator does not refuse it
// because of its own old membership.
func TestReleased(t *testing.T) {
	s := place(t, broker.Access{})
	c, err := NewCoordinator(t.Context(), s, Options{Agents: 2, Tool: tool, Host: "here", Dir: t.TempDir(), Timing: quick()})
	if err != nil {
		t.Fatal(err)
	}
	a := serve(t, s.URL(), Agent{Name: "a"}, broker.Access{}, echo)
	awaitMembers(t, c, 1)
	c.join(hello{ID: "hanging", Name: "b", Tool: tool, Coordinator: c.id}) // an agent that does not answer, so that closing takes a while
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the agent waits for another coordinator", func() bool { return strings.Contains(a.String(), "waiting for a coordinator at "+s.URL()) })
	if strings.Contains(a.String(), "already") || strings.Contains(a.String(), "all agents that it needs") {
		t.Errorf("it says:\n%s", a.String())
	}
}

// Agents receive the minimum of the shared values once all have shared one, and it never falls.
func TestLeast(t *testing.T) {
	s := place(t, broker.Access{})
	c := coordinator(t, s, Options{Agents: 3})
	step := make(chan struct{})
	var seen sync.WaitGroup // by all: 300 must not be the least before each has seen 100
	seen.Add(3)
	for i, name := range []string{"a", "b", "c"} {
		serve(t, s.URL(), Agent{Name: name}, broker.Access{}, workFunc(func(ctx context.Context, _ Command, t Task) error {
			await := func(want int64) error {
				for last := int64(-1); ; {
					v, ok := t.Minimum("acked")
					switch {
					case ok && v < last:
						return fmt.Errorf("fell from %d to %d", last, v)
					case ok && v > want:
						return fmt.Errorf("%d is more than all have shared", v)
					case ok && v == want:
						return nil
					case ok:
						last = v
					}
					if err := wait(ctx, time.Millisecond); err != nil {
						return err
					}
				}
			}
			if i == 2 {
				if err := wait(ctx, 100*time.Millisecond); err != nil {
					return err
				}
				if _, ok := t.Minimum("acked"); ok {
					return errors.New("a least value, and one has shared none")
				}
				close(step)
			}
			<-step
			for v := range int64(101) {
				t.Share("acked", v*int64(i+1))
			}
			t.Share("acked", 5) // a smaller value, which is ignored
			err := await(100)
			seen.Done()
			if err != nil {
				return err
			}
			seen.Wait()
			t.Share("acked", 300)
			return await(300)
		}))
	}
	members := awaitMembers(t, c, 3)
	outcomes, err := c.Do(t.Context(), sameCommand(members, Command{ID: "1"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Error(o.Err)
		}
	}
}

// Stopping a run stops the agents' commands, and reports the number of rows done.
func TestStop(t *testing.T) {
	s := place(t, broker.Access{})
	c := coordinator(t, s, Options{Agents: 2})
	var running atomic.Int64
	for _, name := range []string{"a", "b"} {
		serve(t, s.URL(), Agent{Name: name}, broker.Access{}, workFunc(func(ctx context.Context, _ Command, t Task) error {
			running.Add(1)
			defer running.Add(-1)
			t.Progress(17)
			<-ctx.Done()
			return context.Cause(ctx)
		}))
	}
	members := awaitMembers(t, c, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	var w watcher
	go func() {
		waitUntil(t, "progress of both", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.done) == 2 })
		cancel(errors.New("interrupted"))
	}()
	outcomes, err := c.Do(ctx, sameCommand(members, Command{ID: "1"}), &w)
	if err == nil || err.Error() != "interrupted" {
		t.Errorf("Do: %v", err)
	}
	if n := running.Load(); n != 0 {
		t.Errorf("%d go on", n)
	}
	for _, m := range members {
		if o := outcomes[m.ID]; o.Err == nil || o.Err.Error() != "interrupted" || w.done[m.ID] != 17 {
			t.Errorf("%+v, progress %d", o, w.done[m.ID])
		}
	}
	// The agents remain available for the next command.
	again, err := c.Do(t.Context(), map[string]Command{}, nil)
	if err != nil || len(again) != 0 || len(c.Members()) != 2 {
		t.Errorf("%v, %v, %d members", again, err, len(c.Members()))
	}
}

// An agent whose coordinator is gone stops its command and joins the next coordinator; with Once it
// ends only after a release.
func TestCoordinatorGone(t *testing.T) {
	s := place(t, broker.Access{})
	began := make(chan struct{}, 2)
	stopped := make(chan error, 2)
	work := workFunc(func(ctx context.Context, _ Command, _ Task) error {
		began <- struct{}{}
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return context.Cause(ctx)
	})
	a := serve(t, s.URL(), Agent{Name: "a", Once: true}, broker.Access{}, work)
	first, err := NewCoordinator(t.Context(), s, Options{Agents: 1, Tool: tool, Timing: quick(), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	members := awaitMembers(t, first, 1)
	go func() { _, _ = first.Do(t.Context(), sameCommand(members, Command{ID: "1"}), nil) }()
	<-began
	first.end() // as if it had died: heartbeats end without notice
	first.control.Close()
	first.bulk.Close()
	died := time.Now()
	select {
	case err := <-stopped:
		if !errors.Is(err, ErrCoordinatorGone) {
			t.Errorf("stopped by %v", err)
		}
		if took := time.Since(died); took > 4*quick().Lost {
			t.Errorf("it went on for %v", took)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
	second, err := NewCoordinator(t.Context(), s, Options{Agents: 1, Tool: tool, Timing: quick(), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	awaitMembers(t, second, 1)
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if err := a.wait(t); err != nil {
		t.Errorf("released: %v", err)
	}
}

// A command that does not stop ends its agent, and the coordinator waits no longer than the time
// limit.
func TestStuck(t *testing.T) {
	s := place(t, broker.Access{})
	timing := quick()
	timing.Stop = 200 * time.Millisecond
	c := coordinator(t, s, Options{Agents: 1, Timing: timing})
	end := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := serve(t, s.URL(), Agent{Name: "a"}, broker.Access{}, workFunc(func(context.Context, Command, Task) error { cancel(); <-end; return nil }))
	members := awaitMembers(t, c, 1)
	outcomes, err := c.Do(ctx, sameCommand(members, Command{ID: "1"}), nil)
	var lost *Lost
	if err == nil || !errors.As(outcomes[members[0].ID].Err, &lost) || lost.How != Stuck {
		t.Errorf("%v, %+v", err, outcomes)
	}
	defer close(end) // the process would end here; the goroutine continues
	if err := a.wait(t); !errors.Is(err, errStuck) {
		t.Errorf("the agent ended by %v", err)
	}
}
