package replay

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// player is a server that replays the messages of another one.
type player struct {
	framing   Framing
	problem   func(format string, args ...any)
	listeners []net.Listener
	accepting sync.WaitGroup
	playing   sync.WaitGroup

	mu       sync.Mutex
	conns    map[net.Conn]bool
	recorded []*script
	over     bool // a problem was found, and later problems follow from it
}

// script is a recorded conversation with its player.
type script struct {
	conversation
	number int   // in the recording, from 1
	taken  *part // nil: not yet begun
}

// part is a live connection at a position in its script; all messages before it have been
// exchanged.
type part struct {
	script *script
	at     int
}

// play starts a player of conversations on a number of ports.
func play(f Framing, recorded []conversation, ports int, problem func(string, ...any)) (*player, error) {
	p := &player{framing: f, problem: problem, conns: make(map[net.Conn]bool)}
	for i, c := range recorded {
		p.recorded = append(p.recorded, &script{conversation: c, number: i + 1})
	}
	for port := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		p.listeners = append(p.listeners, l)
		p.accepting.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				p.mu.Lock()
				p.conns[c] = true
				p.mu.Unlock()
				p.playing.Go(func() { p.serve(c, port) })
			}
		})
	}
	return p, nil
}

func (p *player) addresses() []net.Addr { return addresses(p.listeners) }

// fail reports the first problem.
func (p *player) fail(format string, args ...any) {
	if !p.over {
		p.over = true
		p.problem("replay: "+format+"\nif that is intended, record again with TSMARK_RECORD=1", args...)
	}
}

// serve plays a connection.
func (p *player) serve(c net.Conn, port int) {
	defer func() {
		_ = c.Close()
		p.mu.Lock()
		delete(p.conns, c)
		p.mu.Unlock()
	}()
	framing, stream := p.framing.Connection(), bufio.NewReader(c)
	live := p.begin(port)
	if live == nil {
		return
	}
	var request []byte
	for {
		for _, m := range p.answers(live) {
			if _, err := c.Write(framing.Answer([]byte(m.body), request)); err != nil {
				return
			}
		}
		var err error
		if request, err = framing.Read(Client, stream); err != nil {
			p.endConversation(live)
			return
		}
		if !p.heard(live, newMessage(Client, framing.Mask(Client, request))) {
			return
		}
	}
}

// begin assigns a connection the first conversation that has not begun.
func (p *player) begin(port int) *part {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.recorded {
		if s.taken == nil && s.port == port {
			s.taken = &part{script: s}
			return s.taken
		}
	}
	p.fail("one connection more than the %d of the recording", len(p.recorded))
	return nil
}

// answers returns the server's next messages, before the client's next one.
func (p *player) answers(live *part) []message {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := live.script.messages[live.at:]
	n := 0
	for n < len(rest) && rest[n].from == Server {
		n++
	}
	live.at += n
	return rest[:n]
}

// heard advances past a client's message, and switches to another conversation if the message is
// not next in this one.
func (p *player) heard(live *part, said message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	goesOn := func(s *script) bool { return len(s.messages) > live.at && s.messages[live.at] == said }
	if !goesOn(live.script) && !p.exchange(live, goesOn) {
		expected := "nothing more"
		if rest := live.script.messages[live.at:]; len(rest) > 0 {
			expected = rest[0].String()
		}
		p.fail("conversation %d, message %d: the client sends a message that it did not send to the recorded server\nsent:     %s\nrecorded: %s",
			live.script.number, live.at+1, said, expected)
		return false
	}
	live.at++
	return true
}

// exchange finds a conversation that began as this one and is as wanted, and takes it,
// also from a connection that could as well be this one's.
func (p *player) exchange(live *part, wanted func(*script) bool) bool {
	before := live.script
	same := func(s *script, until int) bool {
		return s.port == before.port && min(len(s.messages), len(before.messages)) >= until && slices.Equal(s.messages[:until], before.messages[:until])
	}
	for _, s := range p.recorded {
		other := s.taken
		if s == before || !same(s, live.at) || !wanted(s) || other != nil && !same(s, other.at) {
			continue
		}
		s.taken, before.taken, live.script = live, other, s
		if other != nil {
			other.script = before
		}
		return true
	}
	return false
}

// endConversation: the client has nothing more to say.
func (p *player) endConversation(live *part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	over := func(s *script) bool { return len(s.messages) == live.at }
	if !over(live.script) && !p.exchange(live, over) {
		p.fail("conversation %d ended after message %d; recorded is another one: %s", live.script.number, live.at, live.script.messages[live.at])
	}
}

// patience is the maximum time for clients to end their connections, once tests are over.
const patience = 5 * time.Second

// finish ends the server. Recorded messages that were not requested are a problem, unless the
// tests have failed anyway.
func (p *player) finish(failed func() bool) {
	for _, l := range p.listeners {
		_ = l.Close()
	}
	p.accepting.Wait()
	done := make(chan struct{})
	go func() { p.playing.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		p.mu.Lock()
		for c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		<-done
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if failed() {
		return
	}
	missing, first := 0, ""
	for _, s := range p.recorded {
		if s.taken == nil {
			if missing++; missing == 1 {
				first = fmt.Sprintf("number %d, which begins: %s", s.number, s.messages[0])
			}
		}
	}
	if missing > 0 {
		p.fail("%d of %d conversations never took place, the first is %s", missing, len(p.recorded), first)
	}
}
