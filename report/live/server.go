package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/tsmark/tsmark/internal/listen"
	"github.com/tsmark/tsmark/report/live/page"
)

// Options say where a run can be watched.
type Options struct {
	Address string // of the page and, at /metrics, of the metrics for Prometheus: HOST:PORT; empty: nothing is shown
	Token   string // required from readers; empty: none, which only loopback addresses allow
	// Certificate serves over TLS, with its key. If nil, everything is served without TLS.
	Certificate *tls.Certificate
}

// exampleAddress is an example for errors about addresses.
const exampleAddress = "127.0.0.1:8080"

// Check returns an error if the options are not possible: one line that says how to fix
// it.
func (o *Options) Check() error {
	if o.Address == "" {
		switch {
		case o.Token != "":
			return errors.New("a token needs an address too")
		case o.Certificate != nil:
			return errors.New("a certificate needs an address too")
		}
		return nil
	}
	a, err := listen.Parse(o.Address, exampleAddress)
	if err != nil {
		return err
	}
	if !a.Loopback() && o.Token == "" {
		return fmt.Errorf("%s can be reached from other machines; give readers a token (--token), or listen on 127.0.0.1", a)
	}
	if o.Token != "" {
		return listen.CheckToken(o.Token)
	}
	return nil
}

// Bare reports whether an address that other machines can reach is served without TLS, so
// that the traffic is readable on the way, including the token.
func (o *Options) Bare() bool {
	a, err := listen.Parse(o.Address, exampleAddress)
	return o.Certificate == nil && o.Address != "" && err == nil && !a.Loopback()
}

// Server serves a run over HTTP.
type Server struct {
	URL string // of the page; the metrics are at URL + "metrics"

	run     *Run
	readers readers
	server  *http.Server // nil: not listening
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// Start begins to show a run. Its error is one of Options.Check, or says which address
// could not be listened on.
func Start(run *Run, o Options) (*Server, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	updates, err := page.NewUpdates()
	if err != nil {
		return nil, err
	}
	s := &Server{run: run}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	if s.URL, err = s.listen(&o); err != nil {
		s.close()
		return nil, err
	}
	s.done.Go(func() { s.renew(ctx, updates) })
	return s, nil
}

// mostConnections is the maximum number of open connections per address; others wait in the
// kernel. Each is a file, and the run needs files of its own.
const mostConnections = 4 * mostReaders

// listen serves at the address of the options, and returns its URL.
func (s *Server) listen(o *Options) (string, error) {
	a, err := listen.Parse(o.Address, exampleAddress)
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", a.String())
	if err != nil {
		return "", fmt.Errorf("listening on %s: %w; choose another port, or 0 for a free one", a, err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "", err
	}
	l = netutil.LimitListener(l, mostConnections)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.Handle("GET /events", &s.readers)
	mux.Handle("GET /metrics", metricsOf(s.run))
	s.server = &http.Server{
		Handler: newAccess(a, o, port).guard(mux), ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: patience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	scheme := "http"
	if o.Certificate != nil {
		scheme = "https"
		// Without HTTP/2: each reader is a connection, as limits and deadlines have it.
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*o.Certificate}, MinVersion: tls.VersionTLS12})
	}
	s.done.Go(func() { _ = s.server.Serve(l) }) // it ends by close
	host := a.Host
	if host == "" {
		host, _, _ = net.SplitHostPort(l.Addr().String())
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/", nil
}

// page serves the current page.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()
	var page bytes.Buffer
	if err := s.run.now(time.Now()).WritePage(&page, nonce); err != nil {
		http.Error(w, "tsmark: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", h.Get("Content-Security-Policy")+"; script-src 'nonce-"+nonce+"'; connect-src 'self'")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience))
	_, _ = page.WriteTo(w) // an error means that the reader has left
}

// renew sends the current state to the readers, if there are any, every second.
func (s *Server) renew(ctx context.Context, updates *page.Updates) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			s.readers.send(s.event(updates), true)
			return
		case now := <-ticker.C:
			s.run.tick(now)
			if s.readers.any() {
				s.readers.send(s.event(updates), false)
			}
		}
	}
}

// event returns the whole content of the page as a server-sent event.
func (s *Server) event(updates *page.Updates) []byte {
	now := s.run.now(time.Now())
	var content strings.Builder
	title, err := updates.Write(&content, now)
	if err != nil {
		title = "tsmark"
		content.Reset()
		content.WriteString(`<section class="card" id="now"><p class="alert">This page cannot be shown, which is an error of tsmark; please report it.</p></section>`)
	}
	data, err := json.Marshal(struct {
		Title string `json:"title"`
		HTML  string `json:"html"`
		Over  bool   `json:"over"`
	}{title, content.String(), now.Over != nil})
	if err != nil {
		return nil // texts and a truth are JSON always
	}
	return fmt.Appendf(nil, "event: state\ndata: %s\n\n", data)
}

// farewell is the maximum time that the end waits for readers.
const farewell = 2 * time.Second

// End shows readers the outcome of the session, and stops the server.
func (s *Server) End(e page.End) {
	s.run.End(e)
	s.close()
}

func (s *Server) close() {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if server := s.server; server != nil {
		if server.Shutdown(ctx) != nil {
			_ = server.Close() // ends stuck connections
		}
	}
	s.done.Wait()
}
