//go:build !light

package broker

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/tsmark/tsmark/internal/listen"
)

// Server is a NATS server in this process.
type Server struct {
	access   Access
	host     string // configured host to listen on
	password string // of this process
	server   *server.Server
}

// startTime is the time limit for starting a server.
const startTime = 10 * time.Second

// Limits for clients.
const (
	maxPayload  = 1 << 20 // bytes of a message
	maxPending  = 8 << 20 // bytes waiting for a client before it is disconnected
	maxSubjects = 100     // subscriptions of a client
	spareConns  = 32      // connections in addition to the agents', for waiting or reconnecting clients
)

// Start starts a server. Its error is an error of Options.Check, or says why the server failed to
// start.
func Start(ctx context.Context, o Options) (*Server, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	a, err := listen.Parse(o.Listen, DefaultAddress)
	if err != nil {
		return nil, err
	}
	encryption, err := o.Access.tls(func(c *tls.Config, pool *x509.CertPool) {
		c.ClientCAs, c.ClientAuth = pool, tls.RequireAndVerifyClientCert
	})
	if encryption == nil && o.Access.Token != "" && err == nil {
		encryption, err = newServerTLS(o.Access.Token)
	}
	if err != nil {
		return nil, err
	}
	// The server itself would not report the cause.
	l, err := net.Listen("tcp", a.String())
	if err != nil {
		return nil, fmt.Errorf("listening on %s for agents: %w; choose another port, or 0 for a free one", a, err)
	}
	if a.Port == 0 {
		a.Port = l.Addr().(*net.TCPAddr).Port
	}
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &Server{access: o.Access, host: a.Host, password: rand.Text()}
	if err := s.start(ctx, a, encryption, o.Agents); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, a listen.Address, encryption *tls.Config, agents int) (err error) {
	host := a.Host
	if host == "" {
		host = server.DEFAULT_HOST
	}
	s.server, err = server.NewServer(&server.Options{
		ServerName: "tsmark", Host: host, Port: a.Port,
		CustomClientAuthentication: &gate{sha256.Sum256([]byte(s.password)), sha256.Sum256([]byte(s.access.Token)), s.access.Token != ""},
		TLSConfig:                  encryption, TLS: encryption != nil, TLSVerify: s.access.mutual(), TLSTimeout: 5,
		NoSigs: true, NoSystemAccount: true,
		MaxPayload: maxPayload, MaxPending: maxPending, MaxSubs: maxSubjects, MaxConn: 2*max(agents, 1) + spareConns,
		// A connection without messages must outlive the time to detect a lost agent: an existing
		// connection distinguishes a hanging agent from a dead one.
		PingInterval: 30 * time.Second,
	})
	if err != nil {
		return fmt.Errorf("starting the NATS server for agents: %w", err)
	}
	said := &fatal{text: make(chan string, 1)}
	s.server.SetLoggerV2(said, false, false, false)
	go s.server.Start()
	for began := time.Now(); ; {
		select {
		case text := <-said.text:
			return fmt.Errorf("starting the NATS server for agents: %s", text)
		default:
		}
		switch {
		case s.server.ReadyForConnections(20 * time.Millisecond):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case time.Since(began) > startTime:
			return fmt.Errorf("starting the NATS server for agents: not ready after %v", startTime)
		}
	}
}

// URL is the address for agents on this machine; if the server listens on all addresses, it
// contains this host's name, for other machines.
func (s *Server) URL() string {
	host := s.host
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	scheme := "nats"
	if s.access.Cert != "" || s.access.Token != "" {
		scheme = "tls"
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(s.server.Addr().(*net.TCPAddr).Port))
}

// Private reports whether others cannot read the messages: they cannot connect, and connections are
// encrypted.
func (s *Server) Private() bool { return s.access.Token != "" || s.access.mutual() }

// Connect connects within this process, as the coordinator.
func (s *Server) Connect(_ context.Context, name, _ string) (*nats.Conn, error) {
	return nats.Connect("", nats.Name(name), nats.InProcessServer(s.server), nats.MaxReconnects(-1), nats.ErrorHandler(ignore),
		nats.UserInfo("coordinator", s.password))
}

// IsConnected reports whether a connection of that name exists.
func (s *Server) IsConnected(name string) (exists, known bool) {
	const most = 1 << 20
	all, err := s.server.Connz(&server.ConnzOptions{Limit: most})
	if err != nil {
		return false, false
	}
	for _, c := range all.Conns {
		if c.Name == name {
			return true, true
		}
	}
	return false, true
}

// Traffic is the traffic of the server.
type Traffic struct{ MessagesIn, MessagesOut, BytesIn, BytesOut int64 }

// Traffic returns the traffic so far: from its clients, and to them.
func (s *Server) Traffic() (t Traffic, err error) {
	v, err := s.server.Varz(nil)
	if err != nil {
		return t, err
	}
	return Traffic{v.InMsgs, v.OutMsgs, v.InBytes, v.OutBytes}, nil
}

// Close stops the server.
func (s *Server) Close() error {
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	return nil
}

// fatal records why a server cannot start, and logs nothing, because log lines contain data sent by
// clients.
type fatal struct{ text chan string }

func (f *fatal) Fatalf(format string, v ...any) {
	select {
	case f.text <- fmt.Sprintf(format, v...):
	default:
	}
}

func (*fatal) Noticef(string, ...any) {}
func (*fatal) Warnf(string, ...any)   {}
func (*fatal) Errorf(string, ...any)  {}
func (*fatal) Debugf(string, ...any)  {}
func (*fatal) Tracef(string, ...any)  {}
