package cassandra

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/printable"
)

// protocol is the version of the native protocol, which all supported servers have. The next version
// only adds checksums, at the client's cost.
const protocol = 4

// link is the session of a target, which all workers share, as in applications of Cassandra. It is
// opened on first use, and again after one of its connections broke.
type link struct {
	connection.Settings
	options driver.Options

	mu      sync.Mutex // guards the following fields
	session *gocql.Session
	closed  bool
	nodes   []string // addresses of all nodes, as the latest session found them
}

func newLink(o driver.Options) *link { return &link{Settings: connection.NewSettings(o), options: o} }

// get returns the session.
func (l *link) get(ctx context.Context) (*gocql.Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("the target is closed")
	}
	if l.session != nil {
		return l.session, nil
	}
	s, err := l.connect(ctx)
	if err == nil {
		l.session = s
	}
	return s, err
}

// renew makes the next get return a working session if a server answers: a restarted server has cut the
// earlier connections. It must not be called during measured operations.
func (l *link) renew(ctx context.Context) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	var said gocql.RequestError
	if err = s.Query("SELECT key FROM system.local").ExecContext(ctx); err == nil || ctx.Err() != nil || errors.As(err, &said) {
		return l.explain(ctx, s, err)
	}
	l.drop(s)
	_, err = l.get(ctx)
	return err
}

// drop makes the next get open another session instead of a broken one.
func (l *link) drop(broken *gocql.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == broken {
		l.session = nil
		closing(broken)
	}
}

// Close ends the session.
func (l *link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.session != nil {
		select {
		case <-closing(l.session):
		case <-time.After(limit.Grace):
		}
		l.session = nil
	}
	return nil
}

// closing closes a session, and returns a channel that is closed when it is done: gocql waits until its
// control connection listens, which never happens for a connection that is reconnecting to a killed
// server.
func closing(s *gocql.Session) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Close()
	}()
	return done
}

// connect opens a session, at any node that an earlier one found. The caller holds l.mu. Its error wraps
// driver.ErrUnreachable if no server answers, and ctx's error if ctx ended the attempt.
func (l *link) connect(ctx context.Context) (*gocql.Session, error) {
	port, err := strconv.Atoi(l.Port)
	if err != nil {
		return nil, err
	}
	hosts := l.nodes
	if !slices.Contains(hosts, l.Host) {
		hosts = append([]string{l.Host}, hosts...)
	}
	c := gocql.NewCluster(hosts...)
	dialer := &dialer{encryption: l.Encryption(), several: len(l.nodes) > 1, each: l.Timeout / 4}
	c.Port, c.ProtoVersion, c.Dialer = port, protocol, dialer
	c.Authenticator = gocql.PasswordAuthenticator{Username: l.User, Password: l.Password}
	c.Consistency = gocql.ParseConsistency(strings.ToUpper(l.options[optionConsistency]))
	c.NumConns, c.PageSize = int(l.options.Int(optionConnections)), int(l.options.Int(optionPageSize))
	c.ConnectTimeout, c.Timeout, c.WriteTimeout = l.Timeout, 0, l.Timeout // calls have contexts
	c.ReconnectInterval, c.ReconnectionPolicy = 0, &gocql.ConstantReconnectionPolicy{MaxRetries: 1, Interval: 10 * time.Millisecond}
	c.PoolConfig.HostSelectionPolicy = gocql.ShuffledTokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	c.Metadata.CacheMode = gocql.KeyspaceOnly
	c.Events.DisableNodeStatusEvents, c.Events.DisableTopologyEvents = true, true
	bounded, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	type outcome struct {
		session *gocql.Session
		err     error
	}
	done := make(chan outcome, 1)
	dialer.ctx = bounded
	go func() {
		s, err := c.CreateSession()
		done <- outcome{s, err}
	}()
	select {
	case o := <-done:
		if o.err == nil {
			dialer.lasting()
			if found := o.session.GetHosts(); len(found) > 1 {
				l.nodes = nil
				for _, h := range found {
					l.nodes = append(l.nodes, h.ConnectAddress().String())
				}
			}
			return o.session, nil
		}
		return nil, l.connecting(ctx, bounded, dialer, o.err)
	case <-bounded.Done():
		go func() {
			if o := <-done; o.err == nil {
				o.session.Close()
			}
		}()
		return nil, l.connecting(ctx, bounded, dialer, context.Cause(bounded))
	}
}

// dialer opens connections. Those opened by connect end with its context until lasting is called. Until then, if
// there are other nodes, each has a part of the time: one that does not answer, even twice, prevents no session.
type dialer struct {
	encryption *tls.Config
	several    bool          // connect knows several nodes
	each       time.Duration // longest time for one of several

	mu        sync.Mutex // guards the following fields
	ctx       context.Context
	connected bool  // a server accepted a connection
	failed    error // the last failure
}

// lasting marks the session as open: its connections outlive connect.
func (d *dialer) lasting() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ctx = nil
}

// DialContext implements gocql.Dialer.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	within, limited := d.ctx, d.several || d.connected
	d.mu.Unlock()
	if within != nil {
		bounded, cancel := context.WithCancel(ctx)
		defer cancel()
		if limited {
			defer time.AfterFunc(d.each, cancel).Stop()
		}
		defer context.AfterFunc(within, cancel)()
		ctx = bounded
	}
	conn, connected, err := connection.Dial(ctx, network, address, d.encryption)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.connected = d.connected || connected
	if err != nil {
		d.failed = err
		return nil, err
	}
	return conn, nil
}

// connecting explains an error of connect, whose own time limit was bounded.
func (l *link) connecting(ctx, bounded context.Context, d *dialer, err error) error {
	to := fmt.Sprintf("connecting to Cassandra at %s as user %s", l.Address(), l.User)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", to, context.Cause(ctx))
	}
	d.mu.Lock()
	connected, failed := d.connected, d.failed
	d.mu.Unlock()
	if text := err.Error(); strings.Contains(text, "username") && strings.Contains(text, "password") || strings.Contains(text, "authenticat") {
		return fmt.Errorf("%s: the server refuses the password; give another user or password", to)
	}
	if failed != nil {
		err = failed
	}
	return connection.ConnectError(bounded, to, l.Timeout, connected && l.Encryption() != nil, err)
}

// refusal is how a server says that a user lacks a right on an object.
var refusal = regexp.MustCompile(`User (\S+) has no (\S+) permission on <(.+?)>`)

// explain explains an error of an operation of a session. It wraps ctx's error if that ended the
// operation, a driver.Temporary if the operation can be retried, driver.ErrUnreachable if the
// connection has broken, and syscall.ENOSPC if the server's disk is full.
func (l *link) explain(ctx context.Context, s *gocql.Session, err error) error {
	if err == nil {
		return nil
	}
	var said gocql.RequestError
	switch own := connection.ClientError(ctx, nil, err); {
	case own != nil:
		return own
	case !errors.As(err, &said):
		l.drop(s)
		return connection.BrokenError(l.Address(), err)
	}
	described := fmt.Errorf("%s (error %#x)", printable.OneLine(said.Message()), said.Code())
	switch said.Code() {
	case gocql.ErrCodeOverloaded, gocql.ErrCodeWriteTimeout, gocql.ErrCodeReadTimeout, gocql.ErrCodeUnavailable:
		return &driver.Temporary{Err: described}
	case gocql.ErrCodeBootstrapping:
		return &driver.Temporary{Err: fmt.Errorf("%w: %w", driver.ErrUnreachable, described)}
	case gocql.ErrCodeUnauthorized:
		grant := ""
		if m := refusal.FindStringSubmatch(said.Message()); m != nil {
			grant = fmt.Sprintf("GRANT %s ON %s TO %s", m[2], m[3], m[1])
		}
		return driver.NewDeniedError(described, grant)
	case gocql.ErrCodeWriteFailure:
		return fmt.Errorf("%w; the server could not store the rows: look at its log, and whether its disk is full (%w)", described, syscall.ENOSPC)
	}
	return described
}
