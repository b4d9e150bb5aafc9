package griddb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
)

// link connects to the cluster. Its own session must not be used during measured operations.
type link struct {
	connection.Settings
	options driver.Options

	mu      sync.Mutex // guards the following fields
	cluster *client.Client
	session *client.Session
	closed  bool
}

func newLink(o driver.Options) *link { return &link{Settings: connection.NewSettings(o), options: o} }

// maxMessage is the largest size in bytes of a response. Pages of rows are chosen to be smaller.
const maxMessage = 2 * limit.MaxRow

// config is how the cluster is reached.
func (l *link) config() (client.Config, error) {
	list, err := members(l.options)
	encryption := l.Encryption()
	if encryption != nil {
		encryption.ServerName = "" // each node is verified by the address it is reached at
	}
	return client.Config{
		Members: list, Provider: l.options[optionProvider], Cluster: l.options[optionCluster],
		Database: l.Database, User: l.User, Password: l.Password, Application: "tsmark",
		Direct: l.options[optionDirect] == "true", Timeout: l.Timeout, MaxMessage: maxMessage, TLS: encryption,
	}, err
}

// sqlConfig is how the SQL interface is reached: at the same nodes, and another port.
func (l *link) sqlConfig() (client.Config, error) {
	c, err := l.config()
	list := make([]string, len(c.Members))
	for i, m := range c.Members {
		host, _, _ := net.SplitHostPort(m) // members has looked at it
		list[i] = net.JoinHostPort(host, l.options[optionSQLPort])
	}
	c.Members = list
	return c, err
}

// connect returns the cluster, which it finds when it is first needed.
func (l *link) connect(ctx context.Context) (*client.Client, error) {
	if l.closed {
		return nil, errors.New("the target is closed")
	}
	if l.cluster != nil {
		return l.cluster, nil
	}
	c, err := l.config()
	if err == nil {
		l.cluster, err = client.Open(ctx, c)
	}
	if err != nil {
		l.cluster = nil
	}
	return l.cluster, err
}

// open opens a session for one worker. If the cluster has changed, it discovers the cluster again.
func (l *link) open(ctx context.Context) (*client.Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.try(ctx)
	if err != nil && ctx.Err() == nil && !l.closed {
		l.cluster = nil
		s, err = l.try(ctx)
	}
	if err != nil {
		return nil, l.connecting(ctx, err)
	}
	return s, nil
}

func (l *link) try(ctx context.Context) (*client.Session, error) {
	c, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	return c.Session(ctx)
}

// withSession calls do with the link's own session. It reopens a session that a restart of the server has
// broken.
func (l *link) withSession(ctx context.Context, do func(*client.Session) error) error {
	l.mu.Lock()
	s := l.session
	l.session = nil // others open one of their own meanwhile
	l.mu.Unlock()
	fresh := s == nil || s.Err() != nil
	for {
		if fresh {
			if s != nil {
				_ = s.Close() // it is broken
			}
			var err error
			if s, err = l.open(ctx); err != nil {
				return err
			}
		}
		err := do(s)
		if err != nil && !fresh && s.Err() != nil && ctx.Err() == nil {
			fresh = true
			continue
		}
		err = l.explain(ctx, err)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.session != nil || l.closed || s.Err() != nil {
			_ = s.Close() // nothing waits to be written
		} else {
			l.session = s
		}
		return err
	}
}

// Close ends the link's own session.
func (l *link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.session == nil {
		return nil
	}
	defer func() { l.session = nil }()
	return l.session.Close()
}

// connecting explains why no session could be opened.
func (l *link) connecting(ctx context.Context, err error) error {
	to := fmt.Sprintf("connecting to GridDB at %s as user %s", l.location(), l.User)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", to, context.Cause(ctx))
	}
	if said := client.AsError(err); said != nil {
		switch {
		case said.Code == client.CodeAuthentication:
			return fmt.Errorf("%s: %w (error %d); give another user or password", to, errRefused, said.Code)
		case said.Code == client.CodeClusterName:
			return fmt.Errorf("%s: the cluster has another name than %q (error %d); give its name by the option %s", to, l.options[optionCluster], said.Code, optionCluster)
		case said.Code == client.CodeNoDatabase || said.Code == client.CodeNoUserOrDatabase:
			return fmt.Errorf("%s: there is no database %s, or the user may not enter it (error %d): %w", to, l.Database, said.Code, errNoDatabase)
		case said.Denied:
			return fmt.Errorf("%s: %w: the node is not in service, or its cluster is not complete: %w; look at gs_stat, and have the node join its cluster with gs_joincluster", to, driver.ErrUnreachable, said)
		}
		return fmt.Errorf("%s: %w", to, said)
	}
	if errors.Is(err, client.ErrEncrypted) || errors.Is(err, client.ErrPlain) {
		return fmt.Errorf("%s: %w: %w; give another value of the option %s", to, driver.ErrUnreachable, err, connection.TLS)
	}
	if errors.Is(err, client.ErrProtocol) {
		return fmt.Errorf("%s: %w: what answers there %w; give the port of the node's transaction service", to, driver.ErrUnreachable, client.ErrProtocol)
	}
	var late net.Error
	if errors.As(err, &late) && late.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return connection.DescribeError(to, "", l.Timeout, err)
	}
	return connection.DescribeError(to, "give tls=insecure where the network between can be", 0, err)
}

// errRefused means that the server refuses the user; it reports a missing database in the same way.
var errRefused = errors.New("the server refuses user or password")

// errNoDatabase says that a database is not there.
var errNoDatabase = fmt.Errorf("load it first, or give another database: %w", driver.ErrUnreachable)

// location is where the cluster is reached.
func (l *link) location() string {
	if p := l.options[optionProvider]; p != "" {
		return p
	}
	if m := l.options[optionMembers]; m != "" {
		return m
	}
	return l.Address()
}

// isGone reports whether an error is an error of the connection.
func isGone(err error) bool {
	for _, of := range []error{io.ErrUnexpectedEOF, io.EOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNREFUSED} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// explain explains an error of an operation. It wraps ctx's error where that ended the
// operation, a driver.Temporary where the same can be tried again, driver.ErrUnreachable
// where the connection is gone, and syscall.ENOSPC where the server's disk is full.
func (l *link) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	switch clientErr := connection.ClientError(ctx, nil, err); {
	case clientErr != nil:
		return clientErr
	case driver.AsTemporary(err) != nil || errors.Is(err, driver.ErrExisting) || errors.Is(err, driver.ErrUnreachable):
		return err
	}
	if said := client.AsError(err); said != nil {
		switch {
		case said.Code == client.CodeLogWrite || said.Code == client.CodeCheckpointWrite:
			return fmt.Errorf("%w; look at the server's log, and whether its disk is full (%w)", said, syscall.ENOSPC)
		case said.Denied, said.Broken:
			l.forget()
			return &driver.Temporary{Err: fmt.Errorf("%w: %w", driver.ErrUnreachable, said)}
		}
		return err
	}
	if errors.Is(err, client.ErrProtocol) {
		return err
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return &driver.Temporary{Err: fmt.Errorf("%w: the server did not answer within %v; raise the option timeout or look at the server", driver.ErrUnreachable, l.Timeout)}
	}
	if errors.As(err, &network) || isGone(err) {
		return connection.BrokenError(l.location(), err)
	}
	return err
}

// forget makes the next session read the owners of partitions again.
func (l *link) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cluster = nil
}
