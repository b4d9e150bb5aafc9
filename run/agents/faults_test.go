package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/run/agents/broker"
)

// proxy passes bytes to a server, until it is cut or frozen, and counts them.
type proxy struct {
	url      string
	up, down atomic.Int64 // bytes to the server, and from it

	mu     sync.Mutex
	open   sync.Cond
	conns  []net.Conn
	cut    bool // refuses connections
	frozen bool // lets nothing pass, and keeps connections
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{url: "nats://" + l.Addr().String()}
	p.open.L = &p.mu
	t.Cleanup(func() { l.Close(); p.set(true, false) })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", u.Host)
			p.mu.Lock()
			if err != nil || p.cut {
				client.Close()
				if err == nil {
					server.Close()
				}
				p.mu.Unlock()
				continue
			}
			p.conns = append(p.conns, client, server)
			p.mu.Unlock()
			go p.pass(client, server, &p.up)
			go p.pass(server, client, &p.down)
		}
	}()
	return p
}

func (p *proxy) pass(from, to net.Conn, passed *atomic.Int64) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 2<<10) // small, because memory is measured with hundreds of connections
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		for p.frozen {
			p.open.Wait()
		}
		p.mu.Unlock()
		passed.Add(int64(n))
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// set cuts all connections and refuses new ones, or freezes them.
func (p *proxy) set(cut, frozen bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.frozen = cut, frozen
	if cut {
		for _, c := range p.conns {
			c.Close()
		}
		p.conns = nil
	}
	p.open.Broadcast()
}

// A connection that breaks repeatedly, each time too briefly for the agent to be lost, loses
// nothing: neither commands nor the start, progress, shares or results.
func TestReconnect(t *testing.T) {
	s := place(t, broker.Access{})
	p := newProxy(t, s.URL())
	timing := quick()
	timing.Lost = 5 * time.Second
	c := coordinator(t, s, Options{Agents: 1, Timing: timing})
	big := make([]byte, 4<<20)
	for i := range big {
		big[i] = byte(rand.Uint32())
	}
	serve(t, p.url, Agent{Name: "a"}, broker.Access{}, workFunc(func(ctx context.Context, _ Command, t Task) error {
		if _, err := t.Ready(ctx); err != nil {
			return err
		}
		t.Share("acked", 7)
		for {
			if v, ok := t.Minimum("acked"); ok && v == 7 {
				break
			}
			if err := wait(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		_, err := t.Write(big)
		return err
	}))
	members := awaitMembers(t, c, 1)
	stop := make(chan struct{})
	var flapping sync.WaitGroup
	flapping.Go(func() {
		for { // 20 ms each time, and up to 100 ms between
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(rand.IntN(100)) * time.Millisecond):
			}
			p.set(true, false)
			time.Sleep(20 * time.Millisecond)
			p.set(false, false)
			// The client waits for a quarter to half a second before it connects again.
			select {
			case <-stop:
				return
			case <-time.After(600 * time.Millisecond):
			}
		}
	})
	for n := range 3 {
		outcomes, err := c.Do(t.Context(), sameCommand(members, Command{ID: fmt.Sprint(n), StartsTogether: true}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, outcomes[members[0].ID]); !bytes.Equal(got, big) {
			t.Fatalf("%d bytes came, and not those %d", len(got), len(big))
		}
	}
	close(stop)
	flapping.Wait()
}

// A phase ends once an agent that was lost in it has stopped its work, by itself or as shown by its
// request to join again: no agent still writes when the next phase starts.
func TestNoOrphan(t *testing.T) {
	if slowtest.Short() {
		t.Skip("it takes some seconds, and much else on the machine makes timers late")
	}
	slow := quick() // the agent's timers may be late by a beat or two
	slow.Beat, slow.Lost = 4*slow.Beat, 2*slow.Lost
	for _, returns := range []bool{false, true} {
		s := place(t, broker.Access{})
		p := newProxy(t, s.URL())
		var said lines
		c := coordinator(t, s, Options{Agents: 2, Say: said.say, Timing: slow})
		var writes atomic.Int64
		serve(t, p.url, Agent{Name: "a"}, broker.Access{}, workFunc(func(ctx context.Context, _ Command, task Task) error {
			if _, err := task.Ready(ctx); err != nil {
				return err
			}
			for over := context.WithoutCancel(ctx); ctx.Err() == nil; writes.Add(1) {
				_ = wait(over, time.Millisecond)
			}
			for ends := time.Now().Add(slow.halt() / 3); time.Now().Before(ends); writes.Add(1) { // work in progress finishes
				_ = wait(context.Background(), time.Millisecond)
			}
			return nil
		}))
		serve(t, s.URL(), Agent{Name: "b"}, broker.Access{}, workFunc(func(ctx context.Context, _ Command, task Task) error {
			_, err := task.Ready(ctx)
			return err
		}))
		members := awaitMembers(t, c, 2)
		begun := time.Now()
		go func() {
			for writes.Load() < 10 {
				time.Sleep(time.Millisecond)
			}
			p.set(false, true)
			if returns {
				time.Sleep(slow.Lost + 2*slow.Beat)
				p.set(false, false)
			}
		}()
		outcomes, err := c.Do(t.Context(), sameCommand(members, Command{ID: "1", StartsTogether: true}), nil)
		if err != nil || !IsLost(outcomes[members[0].ID].Err) {
			t.Fatalf("%v, %+v", err, outcomes)
		}
		by := writes.Load()
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("returns %v: it took %v", returns, took)
		}
		if !strings.Contains(said.String(), "for agent a, which may still work") {
			t.Errorf("returns %v: nobody says that it waits:\n%s", returns, said.String())
		}
		time.Sleep(slow.Lost)
		if more := writes.Load() - by; by == 0 || more > 0 {
			t.Errorf("returns %v: the agent wrote %d times, and %d more when the phase had ended", returns, by, more)
		}
	}
}

// An agent whose connection carries no messages is lost as silent, and the others continue; it
// stops its work by itself, and joins again once it can.
func TestSilent(t *testing.T) {
	s := place(t, broker.Access{})
	p := newProxy(t, s.URL())
	c := coordinator(t, s, Options{Agents: 2})
	frozen := make(chan struct{})
	stopped := make(chan error, 1)
	a := serve(t, p.url, Agent{Name: "a"}, broker.Access{}, workFunc(func(ctx context.Context, _ Command, _ Task) error {
		p.set(false, true)
		close(frozen)
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return nil
	}))
	serve(t, s.URL(), Agent{Name: "b"}, broker.Access{}, workFunc(func(ctx context.Context, c Command, t Task) error {
		<-frozen
		if err := wait(ctx, 2*quick().Lost); err != nil {
			return err
		}
		return echo(ctx, c, t)
	}))
	members := awaitMembers(t, c, 2)
	var w watcher
	outcomes, err := c.Do(t.Context(), sameCommand(members, Command{ID: "1", Body: []byte("whole")}), &w)
	if err != nil {
		t.Fatal(err)
	}
	var lost *Lost
	if err := outcomes[members[0].ID].Err; !errors.As(err, &lost) || lost.How != Silent || lost.Silence < quick().Lost || w.lost[members[0].ID] != lost {
		t.Errorf("%v, told was %v", err, w.lost)
	}
	if got := content(t, outcomes[members[1].ID]); string(got) != "whole" {
		t.Errorf("the other one: %q", got)
	}
	if err := <-stopped; !errors.Is(err, ErrCoordinatorGone) {
		t.Errorf("it stopped by %v", err)
	}
	p.set(false, false)
	awaitMembers(t, c, 2)
	if !strings.Contains(a.String(), ErrCoordinatorGone.Error()) {
		t.Errorf("it says: %s", &a.lines)
	}
}

// An agent that returns after it was declared lost is told so, and stops: a process that was
// suspended for a while does not know.
func TestReturned(t *testing.T) {
	s := place(t, broker.Access{})
	c := coordinator(t, s, Options{Agents: 1})
	began := make(chan struct{}) // closed when there is work to stop
	stopped := make(chan error, 1)
	serve(t, s.URL(), Agent{Name: "a"}, broker.Access{}, workFunc(func(ctx context.Context, _ Command, _ Task) error {
		close(began)
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return nil
	}))
	members := awaitMembers(t, c, 1)
	go func() {
		<-began
		c.mu.Lock()
		m := c.members[members[0].ID]
		c.mu.Unlock()
		c.lose(m, &Lost{Name: "a", How: Silent})
	}()
	if _, err := c.Do(t.Context(), sameCommand(members, Command{ID: "1"}), nil); err != nil {
		t.Fatal(err)
	}
	if err := <-stopped; !errors.Is(err, ErrReleased) {
		t.Errorf("it stopped by %v", err)
	}
	awaitMembers(t, c, 1)
}

// A request to join that is answered too late does not prevent the next one.
func TestLateWelcome(t *testing.T) {
	s := place(t, broker.Access{})
	p := newProxy(t, s.URL())
	a := serve(t, p.url, Agent{Name: "a"}, broker.Access{}, echo)
	waitUntil(t, "it waits", func() bool { return strings.Contains(a.String(), "waiting for a coordinator") })
	p.set(false, true)
	timing := quick()
	timing.Lost = 10 * time.Second
	c := coordinator(t, s, Options{Agents: 1, Timing: timing})
	time.Sleep(1500 * time.Millisecond) // a request waits for a second
	p.set(false, false)
	awaitMembers(t, c, 1)
	if strings.Contains(a.String(), "already") {
		t.Errorf("it says: %s", &a.lines)
	}
}

// many is the environment variable of a process that runs agents: their number, and the URL.
const many = "TSMARK_TEST_AGENTS"

// TestMain lets the test's own binary stand in for processes of agents.
func TestMain(m *testing.M) {
	if text := os.Getenv(many); text != "" {
		os.Exit(play(text))
	}
	os.Exit(m.Run())
}

// play runs the requested number of agents until its input ends. Their work reports progress every
// 50 ms, for the seconds in its command or one second, and has a result of 100 kB.
func play(text string) int {
	var n int
	var at string
	if _, err := fmt.Sscan(text, &n, &at); err != nil {
		return 2
	}
	ctx, end := context.WithCancelCause(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end(errors.New("nobody is left"))
	}()
	work := workFunc(func(ctx context.Context, c Command, t Task) error {
		if _, err := t.Ready(ctx); err != nil {
			return err
		}
		seconds := int64(1)
		_, _ = fmt.Sscan(string(c.Body), &seconds)
		for i := range 20 * seconds {
			t.Progress(i * 100_000) // rows
			if err := wait(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
		_, err := t.Write(make([]byte, 100_000))
		return err
	})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			a := Agent{URL: at, Name: fmt.Sprintf("agent-%03d", i), Tool: tool, Patience: 100 * time.Millisecond}
			_ = a.Serve(ctx, broker.Remote{URL: at}, work)
		})
	}
	all.Wait()
	return 0
}

// process starts a process of agents.
func process(t *testing.T, n int, at string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", many, n, at))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // the error only says how it was ended
	})
	return cmd
}

// An agent whose process is killed is lost as gone.
func TestKilled(t *testing.T) {
	s := place(t, broker.Access{})
	c := coordinator(t, s, Options{Agents: 1})
	cmd := process(t, 1, s.URL())
	members := awaitMembers(t, c, 1)
	time.AfterFunc(200*time.Millisecond, func() { _ = cmd.Process.Kill() })
	began := time.Now()
	outcomes, err := c.Do(t.Context(), sameCommand(members, Command{ID: "1", StartsTogether: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	var lost *Lost
	if err := outcomes[members[0].ID].Err; !errors.As(err, &lost) || lost.How != Gone {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 10*quick().Lost {
		t.Errorf("it was noticed after %v", took)
	}
	process(t, 1, s.URL())
	awaitMembers(t, c, 1) // an agent with the same name
}

// Agents that left because the coordinator itself was suspended are not blamed: the reason names
// the coordinator.
func TestStandstill(t *testing.T) {
	timing, end := DefaultTiming(), time.Now()
	for _, c := range []struct {
		lasted time.Duration
		heard  time.Duration // after the end
		want   bool
	}{
		{9 * time.Second, 0, true},
		{9 * time.Second, timing.Beat / 2, true},
		{9 * time.Second, 3 * timing.Beat, false}, // it was connected, and was lost later
		{3 * time.Second, 0, false},               // agents wait longer
		{0, time.Hour, false},
	} {
		if got := (standstill{c.lasted, end}).explains(end.Add(c.heard), timing); got != c.want {
			t.Errorf("%v, heard of after %v: %v", c.lasted, c.heard, got)
		}
	}
	why := (&Lost{Name: "a", Suspended: 9 * time.Second}).Error()
	if !strings.Contains(why, "agent a was lost: the coordinator itself was paused for 9s") || strings.Contains(why, "hangs") {
		t.Error(why)
	}
}
