package questdb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tsmark/tsmark/target"
)

// keepIdle is how long a connection may lie idle. The server closes it after
// five seconds, and a batch that is sent meanwhile would be lost.
const keepIdle = 3 * time.Second

// client is one connection over HTTP, opened when it is needed.
type client struct {
	settings *settings
	http     *http.Client
	base     string // of URLs
}

func newClient(s *settings) *client {
	c := &client{settings: s, base: "http://" + s.address(s.port)}
	if s.tls != nil {
		c.base = "https://" + s.address(s.port)
	}
	c.http = &http.Client{
		// Not by way of a proxy, whose work would be measured as QuestDB's.
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: s.timeout}).DialContext,
			TLSClientConfig:     s.tls.Clone(),
			TLSHandshakeTimeout: s.timeout,
			DisableCompression:  true,
			IdleConnTimeout:     keepIdle,
			MaxConnsPerHost:     1,
		},
		// A redirect would take user and password to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// request makes a request that carries the credentials.
func (c *client) request(ctx context.Context, method, path string, parameters url.Values, body io.Reader) (*http.Request, error) {
	address := c.base + path
	if len(parameters) > 0 {
		address += "?" + parameters.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	switch s := c.settings; {
	case s.token != "":
		r.Header.Set("Authorization", "Bearer "+s.token)
	case s.user != "":
		r.SetBasicAuth(s.user, s.password)
	}
	return r, nil
}

// close releases the connection.
func (c *client) close() { c.http.CloseIdleConnections() }

// errSilent is the cause of a context that ended with the option timeout.
var errSilent = errors.New("no answer in time")

// bounded returns a context that ends after the option timeout, with errSilent.
func (s *settings) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.timeout, errSilent)
}

// unanswered makes an error of a request that had no answer: that of ctx where
// it ended by its caller, else one that wraps target.ErrUnreachable.
func (s *settings) unanswered(ctx context.Context, address string, err error) error {
	if ctx.Err() != nil {
		if errors.Is(context.Cause(ctx), errSilent) {
			return fmt.Errorf("%s %w: it accepted the connection and did not answer within %v; look at its log, or give a longer timeout",
				address, target.ErrUnreachable, s.timeout)
		}
		return context.Cause(ctx)
	}
	// The URL, which url.Error begins with, has the whole statement in it.
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	// net/http says so by no error of its own.
	if strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return fmt.Errorf("%s %w: the server does not speak TLS; give tls=off if the network between can be trusted", address, target.ErrUnreachable)
	}
	if certificate := (*tls.CertificateVerificationError)(nil); errors.As(err, &certificate) {
		return fmt.Errorf("%s %w: its TLS certificate is not to be trusted (%w); have this machine trust it, or give tls=insecure", address, target.ErrUnreachable, err)
	}
	if s.tls != nil { // QuestDB just ends a connection that it does not understand
		return fmt.Errorf("%s %w over TLS: %w; start the server, or give tls=off if it speaks none", address, target.ErrUnreachable, err)
	}
	return fmt.Errorf("%s %w: %w; start the server, or give the right host and port", address, target.ErrUnreachable, err)
}
