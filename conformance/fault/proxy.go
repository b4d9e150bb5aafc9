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

	"github.com/tsmark/tsmark/conformance/wire"
)

// newWires puts a wire before each port of the server, and returns the options
// that lead through them.
func (f *faults) newWires(through *wire.Flow) (options map[string]string, wires []*wire.Wire, err error) {
	options = make(map[string]string)
	for option, distance := range f.ports() {
		w, err := wire.New(f.address(distance), through)
		if err != nil {
			return nil, wires, err
		}
		wires = append(wires, w)
		options[option] = w.Port()
	}
	return options, wires, nil
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
