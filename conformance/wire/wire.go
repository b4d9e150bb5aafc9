// Package wire has a TCP proxy that fails connections to a server, for the suites.
package wire

import (
	"net"
	"strconv"
	"sync"
	"sync/atomic"
)

// Wire is a TCP proxy that counts the bytes of the server's answers, and that can cut
// its connections or fall silent on them.
type Wire struct {
	listener net.Listener
	to       string
	*Flow

	mu    sync.Mutex
	conns []net.Conn
	done  chan struct{} // closed with the wire
}

// Flow counts the traffic of wires, which can share one. Numbers are bytes of
// answers.
type Flow struct {
	Answered atomic.Int64
	Left     atomic.Int64 // until all connections are cut; below 0: never
	Quiet    atomic.Int64 // until nothing goes through any more, either way; below 0: never
}

// NewFlow returns a flow that lets everything through.
func NewFlow() *Flow {
	f := new(Flow)
	f.Left.Store(-1)
	f.Quiet.Store(-1)
	return f
}

// New starts a wire to an address.
func New(to string, f *Flow) (*Wire, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &Wire{listener: l, to: to, Flow: f, done: make(chan struct{})}
	go w.serve()
	return w, nil
}

// Port returns the port of 127.0.0.1 that leads through the wire.
func (w *Wire) Port() string { return strconv.Itoa(w.listener.Addr().(*net.TCPAddr).Port) }

func (w *Wire) serve() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", w.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, client, server)
		w.mu.Unlock()
		go func() { w.request(server, client); _ = server.Close() }()
		go func() { w.answer(client, server); _ = client.Close() }()
	}
}

// request forwards the client's bytes. A silent wire does not even read them.
func (w *Wire) request(server, client net.Conn) {
	buffer := make([]byte, 4096)
	for {
		if w.Quiet.Load() == 0 {
			<-w.done
			return
		}
		n, err := client.Read(buffer)
		if w.Quiet.Load() == 0 {
			continue
		}
		if _, writeErr := server.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

// answer forwards the server's bytes, up to the one at which it is cut or
// falls silent.
func (w *Wire) answer(client, server net.Conn) {
	buffer := make([]byte, 4096)
	for {
		n, err := server.Read(buffer)
		w.Answered.Add(int64(n))
		// A server that receives nothing may end the connection (VictoriaMetrics
		// does after 5 s): a silent wire does not forward that either.
		if err != nil && w.Quiet.Load() == 0 {
			<-w.done
			return
		}
		if armed := w.Quiet.Load(); armed >= 0 && n > 0 {
			if left := w.Quiet.Add(-int64(n)); left <= 0 {
				_, _ = client.Write(buffer[:max(int64(n)+left, 0)])
				w.Quiet.Store(0)
				<-w.done
				return
			}
		}
		if armed := w.Left.Load(); armed >= 0 {
			if left := w.Left.Add(-int64(n)); left <= 0 {
				_, _ = client.Write(buffer[:int64(n)+left])
				w.Left.Store(0)
				w.Cut()
				return
			}
		}
		if _, writeErr := client.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

// Cut ends all connections at once.
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

// Close ends the wire and its connections.
func (w *Wire) Close() {
	_ = w.listener.Close()
	close(w.done)
	w.Cut()
}
