package fault

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
)

// wire is a TCP proxy that counts the bytes of the server's answers, and that can cut
// its connections or fall silent on them.
type wire struct {
	listener net.Listener
	to       string
	*flow

	mu    sync.Mutex
	conns []net.Conn
	done  chan struct{} // closed with the wire
}

// flow counts the traffic of wires, which can share one. Numbers are bytes of
// answers.
type flow struct {
	answered atomic.Int64
	left     atomic.Int64 // until all connections are cut; below 0: never
	quiet    atomic.Int64 // until nothing goes through any more, either way; below 0: never
}

func newFlow() *flow {
	f := new(flow)
	f.left.Store(-1)
	f.quiet.Store(-1)
	return f
}

func newWire(to string, f *flow) (*wire, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &wire{listener: l, to: to, flow: f, done: make(chan struct{})}
	go w.serve()
	return w, nil
}

// newWires puts a wire before each port of the server, and returns the options
// that lead through them.
func (f *faults) newWires(through *flow) (options map[string]string, wires []*wire, err error) {
	options = make(map[string]string)
	for option, distance := range f.ports() {
		w, err := newWire(f.address(distance), through)
		if err != nil {
			return nil, wires, err
		}
		wires = append(wires, w)
		options[option] = w.port()
	}
	return options, wires, nil
}

func (w *wire) port() string { return strconv.Itoa(w.listener.Addr().(*net.TCPAddr).Port) }

func (w *wire) serve() {
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
func (w *wire) request(server, client net.Conn) {
	buffer := make([]byte, 4096)
	for {
		if w.quiet.Load() == 0 {
			<-w.done
			return
		}
		n, err := client.Read(buffer)
		if w.quiet.Load() == 0 {
			continue
		}
		if _, writeErr := server.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

// answer forwards the server's bytes, up to the one at which it is cut or
// falls silent.
func (w *wire) answer(client, server net.Conn) {
	buffer := make([]byte, 4096)
	for {
		n, err := server.Read(buffer)
		w.answered.Add(int64(n))
		// A server that receives nothing may end the connection (VictoriaMetrics
		// does after 5 s): a silent wire does not forward that either.
		if err != nil && w.quiet.Load() == 0 {
			<-w.done
			return
		}
		if armed := w.quiet.Load(); armed >= 0 && n > 0 {
			if left := w.quiet.Add(-int64(n)); left <= 0 {
				_, _ = client.Write(buffer[:max(int64(n)+left, 0)])
				w.quiet.Store(0)
				<-w.done
				return
			}
		}
		if armed := w.left.Load(); armed >= 0 {
			if left := w.left.Add(-int64(n)); left <= 0 {
				_, _ = client.Write(buffer[:int64(n)+left])
				w.left.Store(0)
				w.cut()
				return
			}
		}
		if _, writeErr := client.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

// cut ends all connections at once.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

func (w *wire) close() {
	_ = w.listener.Close()
	close(w.done)
	w.cut()
}

// turnstile is an HTTP proxy that answers some requests that write with a
// status of its own.
type turnstile struct {
	http.Handler
	grpc   http.Handler // of calls, which pass as they come
	refuse atomic.Int64 // POST requests yet to be refused
}

func newTurnstile(to string) *turnstile {
	at := &url.URL{Scheme: "http", Host: to}
	calls := httputil.NewSingleHostReverseProxy(at)
	calls.Transport, calls.FlushInterval = &http.Transport{Protocols: protocols(false)}, -1
	return &turnstile{Handler: httputil.NewSingleHostReverseProxy(at), grpc: calls}
}

// start starts a server of the proxy.
func (s *turnstile) start() *httptest.Server {
	server := httptest.NewUnstartedServer(s)
	server.Config.Protocols = protocols(true)
	server.Start()
	return server
}

// protocols returns HTTP/2 as gRPC speaks it without TLS, and HTTP/1 on request.
func protocols(first bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(first)
	p.SetUnencryptedHTTP2(true)
	return p
}

// ServeHTTP implements http.Handler.
func (s *turnstile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 2 {
		s.grpc.ServeHTTP(w, r)
		return
	}
	// The whole body first: a server that answers before the proxy has read its
	// end would have net/http close the body, and the proxy its connection.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method != http.MethodPost || s.refuse.Add(-1) < 0 {
		s.Handler.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Retry-After", "1")
	status := http.StatusTooManyRequests
	if s.refuse.Load()%2 == 0 {
		status = http.StatusServiceUnavailable
	}
	http.Error(w, "come back later", status)
}

// silent accepts connections and never says a word.
func silent() (port string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	var mu sync.Mutex
	var conns []net.Conn
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
		}
	}()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), func() {
		_ = l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			_ = c.Close()
		}
	}, nil
}
