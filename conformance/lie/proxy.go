package lie

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// proxy stands before a port of a server. It listens on a port of 127.0.0.1, and
// tells protocols apart by the first bytes of a connection.
type proxy struct {
	lie    Lie
	table  string // whose rows it lies about
	to     string
	listen net.Listener
	web    *http.Server
	passed chan net.Conn // connections that speak HTTP
	ended  chan struct{}

	understood atomic.Bool // some connection

	mu      sync.Mutex // guards what follows
	rows    int64      // written
	answers map[string]int64
	gaps    map[string]*Guesser
	old     map[string][]byte
	conns   map[net.Conn]bool
	closed  bool
	// prepared are the texts of statements by the numbers that a server gave them for
	// all its connections, as Cassandra does.
	prepared map[string]string
}

// Group are proxies before the ports of one server. Each numbers rows and answers
// for itself.
type Group struct{ proxies []*proxy }

// New starts a proxy before each of the addresses, which tells a lie about the
// rows of a table. The caller closes the group.
func New(l Lie, table string, addresses ...string) (*Group, error) {
	g := &Group{}
	for _, to := range addresses {
		listen, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			_ = g.Close()
			return nil, err
		}
		p := &proxy{
			lie: l, table: table, to: to, listen: listen, passed: make(chan net.Conn), ended: make(chan struct{}),
			answers: make(map[string]int64), gaps: make(map[string]*Guesser), old: make(map[string][]byte), conns: make(map[net.Conn]bool),
		}
		p.web = &http.Server{Handler: p.handler(), ReadHeaderTimeout: time.Minute}
		g.proxies = append(g.proxies, p)
		go func() { _ = p.web.Serve(webListener{p}) }()
		go p.serve()
	}
	return g, nil
}

// Port returns the port of the proxy before the address of the number given.
func (g *Group) Port(i int) string {
	return strconv.Itoa(g.proxies[i].listen.Addr().(*net.TCPAddr).Port)
}

// Understands reports whether any connection has spoken a protocol in which the
// proxies can lie.
func (g *Group) Understands() bool {
	return slices.ContainsFunc(g.proxies, func(p *proxy) bool { return p.understood.Load() })
}

// Close ends the proxies and all their connections.
func (g *Group) Close() error {
	var problems []error
	for _, p := range g.proxies {
		problems = append(problems, p.close())
	}
	return errors.Join(problems...)
}

func (p *proxy) close() error {
	close(p.ended)
	err := p.listen.Close()
	err = errors.Join(err, p.web.Close())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.conns {
		_ = c.Close()
	}
	return err
}

// webListener gives an HTTP server the connections that speak HTTP.
type webListener struct{ *proxy }

// Accept implements net.Listener.
func (l webListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.passed:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (l webListener) Addr() net.Addr { return l.listen.Addr() }

// Close implements net.Listener: the proxy closes its own.
func (l webListener) Close() error { return nil }

// sniffed is a connection whose first bytes were looked at.
type sniffed struct {
	net.Conn
	from *bufio.Reader
}

func (s *sniffed) Read(b []byte) (int, error) { return s.from.Read(b) }

func (p *proxy) serve() {
	for {
		c, err := p.listen.Accept()
		if err != nil {
			return
		}
		if p.keep(c) {
			go p.take(&sniffed{c, bufio.NewReader(c)})
		}
	}
}

// keep notes a connection, to be closed at the end.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// silence is how long a client says nothing that waits for its server to speak
// first.
const silence = 200 * time.Millisecond

// take finds out what a client speaks.
func (p *proxy) take(client *sniffed) {
	_ = client.SetReadDeadline(time.Now().Add(silence))
	begin, err := client.from.Peek(4)
	_ = client.SetReadDeadline(time.Time{})
	serverFirst := errors.Is(err, os.ErrDeadlineExceeded)
	if err != nil && !serverFirst {
		p.drop(client.Conn)
		return
	}
	if isHTTP(string(begin)) {
		p.understood.Store(true)
		select {
		case p.passed <- client:
		case <-p.ended:
		}
		return
	}
	defer p.drop(client.Conn)
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer p.drop(server)
	if !p.keep(server) {
		return
	}
	if all, _ := client.from.Peek(client.from.Buffered()); !serverFirst && isThrift(all) {
		p.understood.Store(true)
		_ = p.iotdb(client, server) // the client notices that the connection has ended
		return
	}
	if all, _ := client.from.Peek(client.from.Buffered()); !serverFirst && isCQL(all) {
		p.understood.Store(true)
		_ = p.cql(client, server) // the client notices that the connection has ended
		return
	}
	if !serverFirst && isGrid(begin) {
		p.understood.Store(true)
		_ = p.grid(client, server) // the client notices that the connection has ended
		return
	}
	if !serverFirst && greetsNative(begin) {
		p.understood.Store(true)
		_ = p.native(client, server) // the client notices that the connection has ended
		return
	}
	if !serverFirst && begin[0] == 0 { // the length of a message without a type
		p.understood.Store(true)
		_ = p.postgres(client, server) // the client notices that the connection has ended
		return
	}
	fromServer := bufio.NewReader(server)
	if serverFirst {
		if begin, err := fromServer.Peek(5); err == nil && greetsMySQL(begin) {
			p.understood.Store(true)
			_ = p.mysql(client, server, fromServer)
			return
		}
	}
	go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
	_, _ = io.Copy(client, fromServer)
}

func isHTTP(begin string) bool {
	for _, method := range []string{"GET ", "POST", "HEAD", "PUT ", "DELE"} {
		if strings.HasPrefix(begin, method) {
			return true
		}
	}
	return false
}

// fates returns what becomes of the next rows.
func (p *proxy) fates(rows int) []Fate {
	fates := make([]Fate, rows)
	if p.lie.Store == nil {
		return fates
	}
	p.mu.Lock()
	first := p.rows
	p.rows += int64(rows)
	p.mu.Unlock()
	for i := range fates {
		fates[i] = p.lie.Store(first + int64(i))
	}
	return fates
}

// deceives reports whether answers to a query are lied about, and returns the
// kind of the query.
func (p *proxy) deceives(text string) (kindOf string, ok bool) {
	if !p.answersLie() || !strings.Contains(text, p.table) {
		return "", false
	}
	kindOf = kind(text)
	return kindOf, kindOf != ""
}

// answersLie reports whether the lie is one about answers.
func (p *proxy) answersLie() bool {
	return p.lie.Answer != nil || p.lie.OldAfter != 0 || p.lie.Delay != nil
}

// reading is what the client is to be told in place of an answer.
type reading struct {
	rows  []int         // of the answer
	old   []byte        // an older answer; nil: rows
	delay time.Duration // before it
	keep  bool          // this answer will be needed
}

// read takes the next answer of a kind.
func (p *proxy) read(kindOf string, rows int) reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[kindOf]++
	nth := p.answers[kindOf]
	r := reading{rows: all(rows), old: p.old[kindOf], keep: nth == cmp.Or(p.lie.OldAfter, never)}
	if p.lie.Answer != nil && (!p.lie.ByGaps || p.safe(kindOf)) {
		r.rows = p.lie.Answer(nth, rows)
	}
	if p.lie.Delay != nil {
		r.delay = p.lie.Delay(nth)
	}
	return r
}

// safe reports whether the next answer of a kind is taken for one that is not compared.
func (p *proxy) safe(kindOf string) bool {
	g := p.gaps[kindOf]
	if g == nil {
		g = new(Guesser)
		p.gaps[kindOf] = g
	}
	return g.Safe(time.Now())
}

// remember keeps an answer for later.
func (p *proxy) remember(kindOf string, answer []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.old[kindOf] = answer
}

// wait holds an answer back, unless the proxy ends.
func (p *proxy) wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-p.ended:
	case <-ctx.Done():
	}
}
