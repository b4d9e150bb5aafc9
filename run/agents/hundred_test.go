package agents

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/run/agents/broker"
)

// usage is the cost of agents over a period.
type usage struct {
	in, out  int64 // messages to and from the server
	content  int64 // bytes of them, both ways
	up, down int64 // bytes over TCP: from agents, and to them
	beats    int64 // heartbeats of agents
	whole    time.Duration
}

// sub returns the usage since an earlier reading.
func (u usage) sub(before usage) usage {
	return usage{u.in - before.in, u.out - before.out, u.content - before.content, u.up - before.up, u.down - before.down, u.beats - before.beats, u.whole - before.whole}
}

// perAgentBeat converts a number of the usage to one agent and one heartbeat, at one heartbeat per second.
func (u usage) perAgentBeat(n int64) float64 { return float64(n) / float64(u.beats) }

// pace is the number of heartbeats per second of the given number of agents.
func (u usage) pace(agents int) float64 {
	return float64(u.beats) / float64(agents) / u.whole.Seconds()
}

// meter returns a function that reads the counters of a server and a proxy. It receives heartbeats
// itself, which it does not count as sent.
func meter(t *testing.T, s *broker.Server, p *proxy, c *Coordinator) func() usage {
	t.Helper()
	own, err := s.Connect(t.Context(), "the test", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Close)
	var beats, bytes atomic.Int64
	if _, err := own.Subscribe(fmt.Sprintf(beatSubject, c.id, "*.*"), func(m *nats.Msg) { beats.Add(1); bytes.Add(int64(len(m.Data))) }); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	return func() usage {
		t.Helper()
		v, err := s.Traffic()
		if err != nil {
			t.Fatal(err)
		}
		return usage{v.MessagesIn, v.MessagesOut - beats.Load(), v.BytesIn + v.BytesOut - bytes.Load(), p.up.Load(), p.down.Load(), beats.Load(), time.Since(begun)}
	}
}

// The figures for other numbers of agents in docs/scale-out.md follow from its figures for one
// agent.
func TestScaleOutPage(t *testing.T) {
	page := readPage(t)
	if len(page.rows) < 9 {
		t.Errorf("the page has %d rows of costs", len(page.rows))
	}
	for row, cells := range page.rows {
		if one, err := amount(cells[0]); err == nil {
			page.holds(row, one, 0)
		}
	}
}

// The cost of a hundred agents for the coordinator, with the timing of real runs, matches
// docs/scale-out.md. A busy machine sends fewer messages, so bytes are compared per message. For
// many seconds the test measures values that depend on scheduling, such as messages that TCP
// combines and the memory of a process; therefore it runs alone, at night.
func TestHundred(t *testing.T) {
	if slowtest.Short() {
		t.Skip("it measures; .ci/nightly does that alone")
	}
	const n = 100
	s := place(t, broker.Access{})
	p := newProxy(t, s.URL())
	heap := func() int64 { // after the garbage of other tests is collected
		for last := int64(math.MaxInt64); ; time.Sleep(100 * time.Millisecond) {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			now := int64(m.HeapAlloc + m.StackInuse)
			if now > last-now/100 {
				return now
			}
			last = now
		}
	}
	timing := DefaultTiming()
	timing.Lost = 20 * time.Second // of a busy machine, whose hundred agents share a process
	c := coordinator(t, s, Options{Agents: n, Timing: timing})
	empty := heap()
	process(t, n, p.url)
	members := awaitMembers(t, c, n)
	if len(members) != n {
		t.Fatalf("%d members", len(members))
	}
	full := heap()
	read := meter(t, s, p, c)
	during := func(d time.Duration) usage {
		before := read()
		time.Sleep(d)
		return read().sub(before)
	}
	const still, seconds = 3 * time.Second, 6
	waiting := during(still)
	var mu sync.Mutex
	reporting := map[string]bool{}
	seen := reporter(func(member string, done int64) {
		mu.Lock()
		defer mu.Unlock()
		reporting[member] = done > 0
	})
	var outcomes map[string]Outcome
	var err error
	begun := read()
	over := make(chan struct{})
	go func() {
		defer close(over)
		outcomes, err = c.Do(t.Context(), sameCommand(members, Command{ID: "1", StartsTogether: true, Body: fmt.Append(nil, seconds)}), seen)
	}()
	waitUntil(t, "all are at work", func() bool { mu.Lock(); defer mu.Unlock(); return len(reporting) == n })
	working := during(still)
	<-over
	if err != nil {
		t.Fatal(err)
	}
	all := read().sub(begun)
	var first, latest time.Time
	for _, m := range members {
		o := outcomes[m.ID]
		if got := len(content(t, o)); got != 100_000 {
			t.Errorf("%s: %d bytes", m.Name, got)
		}
		if first.IsZero() || o.Started.Before(first) {
			first = o.Started
		}
		if o.Started.After(latest) {
			latest = o.Started
		}
	}
	own, after := (full-empty)/n, (heap()-empty)/n
	t.Logf("each second and agent, waiting: %.1f messages in, %.1f out, %.0f bytes of content; over TCP %.0f bytes from it, %.0f to it; %.2f heartbeats a second", waiting.perAgentBeat(waiting.in), waiting.perAgentBeat(waiting.out),
		waiting.perAgentBeat(waiting.content), waiting.perAgentBeat(waiting.up), waiting.perAgentBeat(waiting.down), waiting.pace(n))
	t.Logf("in a phase: %.0f bytes of content; over TCP %.0f bytes from it, %.0f to it; %.2f heartbeats a second", working.perAgentBeat(working.content), working.perAgentBeat(working.up), working.perAgentBeat(working.down), working.pace(n))
	beats := 3 * all.whole.Seconds() // messages of an agent outside of phases
	t.Logf("a phase of %d s with a result of 100 kB an agent took %v; began %v apart; an agent had %.0f messages to the server beside the beats, and %.0f bytes over TCP; memory %d bytes each, %d after it",
		seconds, all.whole.Round(time.Millisecond), latest.Sub(first), float64(all.in)/n-beats, float64(all.up+all.down)/n, own, after)

	page := readPage(t)
	page.holds("messages to the server", waiting.perAgentBeat(waiting.in), 0.1)
	page.holds("messages from the server", waiting.perAgentBeat(waiting.out), 0.1)
	page.holds("their content, waiting", waiting.perAgentBeat(waiting.content), 0.1)
	page.holds("their content, in a phase", working.perAgentBeat(working.content), 0.1)
	// On a busy machine an agent received up to a fifth more.
	page.holds("sent by agents, waiting", waiting.perAgentBeat(waiting.up), 0.3)
	page.holds("sent by agents, in a phase", working.perAgentBeat(working.up), 0.3)
	page.holds("sent to agents", waiting.perAgentBeat(waiting.down), 0.3)
	page.holds("sent to agents", working.perAgentBeat(working.down), 0.3)
	page.holds("memory of the coordinator", float64(own), 0.5)
	page.holds("the same after results of 100 kB", float64(after), 0.5)
	if pace := waiting.pace(n); pace > 1.1 {
		t.Errorf("%.1f heartbeats a second", pace)
	}
}

// reporter is an Observer of progress alone.
type reporter func(member string, done int64)

func (r reporter) Progress(member string, done int64) { r(member, done) }
func (reporter) MemberLost(string, *Lost)             {}
func (reporter) CommandFailed(string, error)          {}

// page is the tables of docs/scale-out.md about limits: by the name of a row, the cost of one
// agent, and of 1,000.
type page struct {
	t    *testing.T
	rows map[string][]string
}

func readPage(t *testing.T) page {
	t.Helper()
	text, err := os.ReadFile("../../docs/scale-out.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(text), "\n## How far it goes\n")
	if !found {
		t.Fatal("the page does not say how far it goes")
	}
	p := page{t, map[string][]string{}}
	for line := range strings.Lines(part) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"); len(cells) == 3 {
			p.rows[strings.TrimSpace(cells[0])] = cells[1:]
		}
	}
	return p
}

// holds compares a row with the measurement of one agent, within a tolerance, and with the rounded
// figure for 1,000 agents.
func (p page) holds(row string, measured, within float64) {
	p.t.Helper()
	cells := p.rows[row]
	if cells == nil {
		p.t.Errorf("the page has no row %q", row)
		return
	}
	for i, agents := range []float64{1, 1000} {
		said, err := amount(cells[i])
		if err != nil {
			p.t.Errorf("%s: %v", row, err)
			continue
		}
		if i == 0 {
			if said < measured*(1-within) || said > measured*(1+within) {
				p.t.Errorf("%s: the page says %g, measured were %.1f", row, said, measured)
			}
			measured = said
			continue
		}
		if want := measured * agents; said < want*0.94 || said > want*1.06 {
			p.t.Errorf("%s for %g: the page says %g, and %g × %g is %g", row, agents, said, agents, measured, want)
		}
	}
}

// amount reads a number of the page, possibly with a unit of bytes.
func amount(cell string) (float64, error) {
	units := map[string]float64{"": 1, "B": 1, "kB": 1e3, "MB": 1e6}
	var number float64
	var unit string
	if n, err := fmt.Sscan(strings.ReplaceAll(cell, ",", ""), &number, &unit); n == 0 {
		return 0, fmt.Errorf("%q is not a number: %w", cell, err)
	}
	factor, known := units[unit]
	if !known {
		return 0, fmt.Errorf("%q has another unit than B, kB and MB", cell)
	}
	return number * factor, nil
}
