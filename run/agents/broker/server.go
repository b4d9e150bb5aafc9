package broker

import (
	"context"
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

// DefaultAddress is where a server listens unless told otherwise: for agents on this machine.
const DefaultAddress = "127.0.0.1:4222"

// Options say how a server is started.
type Options struct {
	Listen string // HOST:PORT; a port of 0 is a free one
	Access Access // what clients need; others than on loopback need a token or a certificate
	Dir    string // under which it keeps what it holds, in a folder of its own that Close removes; empty: that of temporary files
}

// Check reports why such a server is not to be started, in a line that says how to fix it.
func (o Options) Check() error {
	a, err := listen.Parse(o.Listen, DefaultAddress)
	if err != nil {
		return err
	}
	if err := o.Access.pair(); err != nil {
		return err
	}
	switch {
	case o.Access.CA != "" && o.Access.Cert == "":
		return errors.New("a server that asks for certificates needs one itself; give its certificate and key")
	case o.Access.Credentials != "":
		return errors.New("credentials are for a NATS server that exists; this one is started here, and takes a token or certificates")
	case o.Access.Token != "":
		return listen.CheckToken(o.Access.Token)
	case !a.Loopback() && !o.Access.mutual():
		return fmt.Errorf("%s can be reached from other machines; give agents a token, or certificates (certificate, key and who signed those of agents), or listen on 127.0.0.1", a)
	}
	return nil
}

// Server is a NATS server in this process.
type Server struct {
	access Access
	host   string // that it was told to listen on
	folder string
	server *server.Server
}

// startTime is how long a server may take to start: it makes a folder and listens.
const startTime = 10 * time.Second

// Start starts a server. Its error is one of Options.Check, or says why it could not be.
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
	if err != nil {
		return nil, err
	}
	// The server itself would say nothing of why it cannot.
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
	folder, err := os.MkdirTemp(o.Dir, "tsmark-agents-*")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the results of agents: %w", err)
	}
	s := &Server{access: o.Access, host: a.Host, folder: folder}
	if err := s.start(ctx, a, encryption); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, a listen.Address, encryption *tls.Config) (err error) {
	host := a.Host
	if host == "" {
		host = server.DEFAULT_HOST
	}
	s.server, err = server.NewServer(&server.Options{
		ServerName: "tsmark", Host: host, Port: a.Port, Authorization: s.access.Token,
		TLSConfig: encryption, TLS: encryption != nil, TLSVerify: s.access.mutual(), TLSTimeout: 5,
		JetStream: true, StoreDir: s.folder, DisableJetStreamBanner: true,
		NoSigs: true,
		// A connection over which nothing comes is to stand for longer than it takes to find
		// its agent lost: that it stands tells a hanging agent from a dead one.
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

// URL is by which agents on this machine reach it, and others where it listens on all
// addresses by the name of this host.
func (s *Server) URL() string {
	host := s.host
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	scheme := "nats"
	if s.access.Cert != "" {
		scheme = "tls"
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(s.server.Addr().(*net.TCPAddr).Port))
}

// Private reports whether nobody else can read what goes through it: others cannot connect,
// and what leaves this machine is encrypted.
func (s *Server) Private() bool {
	return (s.access.Token != "" || s.access.mutual()) && (s.access.Cert != "" || listen.Address{Host: s.host}.Loopback())
}

// Connect connects to it within this process.
func (s *Server) Connect(_ context.Context, name string) (*nats.Conn, error) {
	options := []nats.Option{nats.Name(name), nats.InProcessServer(s.server), nats.MaxReconnects(-1), nats.ErrorHandler(ignore)}
	if s.access.Token != "" {
		options = append(options, nats.Token(s.access.Token))
	}
	return nats.Connect("", options...)
}

// Connected reports whether a connection of that name stands.
func (s *Server) Connected(name string) (stands, known bool) {
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

// Traffic is what went through the server.
type Traffic struct{ MessagesIn, MessagesOut, BytesIn, BytesOut int64 }

// Traffic returns what went through so far: from its clients, and to them.
func (s *Server) Traffic() (t Traffic, err error) {
	v, err := s.server.Varz(nil)
	if err != nil {
		return t, err
	}
	return Traffic{v.InMsgs, v.OutMsgs, v.InBytes, v.OutBytes}, nil
}

// Close ends it, and removes what it held.
func (s *Server) Close() error {
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	return os.RemoveAll(s.folder)
}

// fatal keeps why a server cannot start, and logs nothing: its lines have what clients sent.
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
