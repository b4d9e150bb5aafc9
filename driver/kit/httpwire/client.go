// Package httpwire is shared by drivers that use HTTP. It provides one persistent connection for each
// worker, time-outs that distinguish a silent server from a slow one, bodies made of texts without
// copying, and one-line errors.
package httpwire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// writeBuffer is the number of request bytes that the connection buffers.
const writeBuffer = 64 << 10

// Config is the address of a server and the parameters of connections to it.
type Config struct {
	Host, Port string
	TLS        *tls.Config   // nil: not encrypted
	Timeout    time.Duration // longest wait for a connection, in WithTimeout, and in Patient
	// Idle is how long a connection may be idle. It must be less than the time after which the server
	// closes an idle connection; 0: any time.
	Idle time.Duration
	// Authorize adds the credentials to a request; nil: no credentials.
	Authorize func(*http.Request)
}

// Address is host:port.
func (c *Config) Address() string { return net.JoinHostPort(c.Host, c.Port) }

// NewConfig returns the Config for the settings. A user's name and password are sent as basic
// authentication, a token as a bearer token.
func NewConfig(c connection.Settings, token string) (Config, error) {
	out := Config{Host: c.Host, Port: c.Port, TLS: c.Encryption(), Timeout: c.Timeout}
	switch {
	case c.Password != "" && c.User == "":
		return out, errors.New("a password was given without a user: give the option user as well")
	case token != "" && c.User != "":
		return out, errors.New("give either a token or a user with a password")
	case token != "":
		out.Authorize = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	case c.User != "":
		out.Authorize = func(r *http.Request) { r.SetBasicAuth(c.User, c.Password) }
	}
	return out, nil
}

// Endpoint is the server for driver.Driver's Endpoints; the option sets its port.
func (c *Config) Endpoint(option string) driver.Endpoint {
	return driver.Endpoint{
		Protocol: "HTTP", Address: c.Address(), Option: option, Opened: true, Secret: c.Authorize != nil,
		Probe: func(ctx context.Context) (*tls.ConnectionState, error) {
			return connection.Handshake(ctx, c.Address(), c.TLS, c.Timeout)
		},
	}
}

// Client is one connection, opened on first use.
type Client struct {
	*Config
	http *http.Client
	base string // of URLs
}

// New returns a client that has not connected yet.
func New(c *Config) *Client {
	scheme := "http://"
	if c.TLS != nil {
		scheme = "https://"
	}
	return &Client{Config: c, base: scheme + c.Address(), http: &http.Client{
		// No proxy: its work would be measured as the server's.
		Transport: &http.Transport{
			DialContext:         dial(c.Timeout),
			TLSClientConfig:     c.TLS.Clone(),
			TLSHandshakeTimeout: c.Timeout,
			DisableCompression:  true,
			IdleConnTimeout:     c.Idle,
			MaxConnsPerHost:     1,
			WriteBufferSize:     writeBuffer,
		},
		// Following a redirect would send the credentials to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Request returns a request with the credentials.
func (c *Client) Request(ctx context.Context, method, path string, parameters url.Values, body io.Reader) (*http.Request, error) {
	address := c.base + path
	if len(parameters) > 0 {
		address += "?" + parameters.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err == nil && c.Authorize != nil {
		c.Authorize(r)
	}
	return r, err
}

// Do sends a request and returns the beginning of the response. The caller closes its body. If the
// caller's context ended, the error is that of the context; otherwise it wraps driver.ErrUnreachable
// and says how to fix it.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	response, err := c.http.Do(r)
	if err != nil {
		return nil, c.RequestError(r.Context(), err)
	}
	return response, nil
}

// RequestError returns the error of a request whose response is missing or incomplete, as TransportError does.
func (c *Client) RequestError(ctx context.Context, err error) error {
	return c.TransportError(ctx, c.Address(), err)
}

// Answer is Do for a query. A status other than 200 is an error, which explain makes of the response.
func (c *Client) Answer(r *http.Request, explain func(status int, body []byte) error) (*http.Response, error) {
	response, err := c.Do(r)
	if err != nil || response.StatusCode == http.StatusOK {
		return response, err
	}
	defer response.Body.Close()
	return nil, ResponseError(response, explain)
}

// Close releases the connection.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// errSilent is the cause of a context that ended with the time-out.
var errSilent = errors.New("no answer in time")

// WithTimeout returns a context that ends after the time-out. Do then reports that the server was silent.
func (c *Config) WithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.Timeout, errSilent)
}

// Patient returns a context for a statement of tsmark's own, which may take long: ctx, if it has a
// deadline, else WithTimeout.
func (c *Config) Patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ends := ctx.Deadline(); ends {
		return context.WithCancel(ctx)
	}
	return c.WithTimeout(ctx)
}

// TransportError returns the error of a request or a connection attempt without a response: that of ctx if
// the caller ended it, else one that wraps driver.ErrUnreachable and says how to fix it.
func (c *Config) TransportError(ctx context.Context, address string, err error) error {
	if ctx.Err() != nil {
		if errors.Is(context.Cause(ctx), errSilent) {
			return fmt.Errorf("%s %w: it accepted the connection and did not answer within %v; look at its log, or give a longer timeout",
				address, driver.ErrUnreachable, c.Timeout)
		}
		return context.Cause(ctx)
	}
	// url.Error begins with the URL, which contains the whole request.
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	certificate := (*tls.CertificateVerificationError)(nil)
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%s %w: the server does not speak TLS; give tls=off if the network between can be trusted", address, driver.ErrUnreachable)
	case errors.As(err, &certificate):
		return fmt.Errorf("%s %w: its TLS certificate is not to be trusted (%w); have this machine trust it, or give tls=insecure", address, driver.ErrUnreachable, err)
	case c.TLS != nil: // some servers just close a connection that they do not understand
		return fmt.Errorf("%s %w over TLS: %w; start the server, or give tls=off if it speaks none", address, driver.ErrUnreachable, connection.Cause(address, err))
	}
	return fmt.Errorf("%s %w: %w; start the server, or give the right host and port", address, driver.ErrUnreachable, connection.Cause(address, err))
}
