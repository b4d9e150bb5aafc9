package protocol

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// Driver returns the driver with an Open whose error names the protocol of the server if that is
// another one. It looks at the server if Open cannot reach it, or is not done after a second.
func Driver(k driver.Driver) driver.Driver { return usual().driver(k) }

// timing says how long connecting may take before its server is looked at, and how long that takes.
type timing struct{ patience, look time.Duration }

func usual() timing { return timing{time.Second, time.Second} }

func (w timing) driver(k driver.Driver) driver.Driver {
	open := k.Open
	k.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		return watch(ctx, w.patience, func(ctx context.Context) error {
			endpoints, err := connection.Endpoints(&k, o)
			if i := slices.IndexFunc(endpoints, func(e driver.Endpoint) bool { return e.Opened }); err == nil && i >= 0 {
				return w.mismatch(ctx, &k, o, &endpoints[i])
			}
			return nil
		}, func(ctx context.Context) (driver.DB, error) { return open(ctx, env, o) })
	}
	return k
}

// Probe is the endpoint's Probe, whose error names the protocol of the server if that is another one.
func Probe(ctx context.Context, k *driver.Driver, o driver.Options, e *driver.Endpoint) (*tls.ConnectionState, error) {
	w := usual()
	return watch(ctx, w.patience, func(ctx context.Context) error { return w.mismatch(ctx, k, o, e) }, e.Probe)
}

// Mismatch returns an error if the server at an endpoint speaks another protocol than the driver. An
// endpoint that Probe reaches may do so: it only connects.
func Mismatch(ctx context.Context, k *driver.Driver, o driver.Options, e *driver.Endpoint) error {
	return usual().mismatch(ctx, k, o, e)
}

// watch calls connect. If that cannot reach the server or takes longer than patience, watch calls look,
// whose error ends connect and replaces its error.
func watch[T any](ctx context.Context, patience time.Duration, look func(context.Context) error, connect func(context.Context) (T, error)) (T, error) {
	bounded, end := context.WithCancelCause(ctx)
	defer end(nil)
	wrong := sync.OnceValue(func() error { return look(ctx) })
	timer := time.AfterFunc(patience, func() {
		if err := wrong(); err != nil {
			end(err)
		}
	})
	defer timer.Stop()
	of, err := connect(bounded)
	if err == nil || ctx.Err() != nil || bounded.Err() == nil && !errors.Is(err, driver.ErrUnreachable) {
		return of, err
	}
	if found := wrong(); found != nil {
		err = found
	}
	return of, err
}

// otherProtocol is the error for a server that speaks another protocol: for the driver it cannot be
// reached.
type otherProtocol string

func (e otherProtocol) Error() string { return string(e) }
func (e otherProtocol) Unwrap() error { return driver.ErrUnreachable }

// mismatch returns the error for an endpoint at which a server speaks another protocol than the driver;
// nil: it speaks the same one, or it is not known.
func (w timing) mismatch(ctx context.Context, k *driver.Driver, o driver.Options, e *driver.Endpoint) error {
	settings := connection.NewSettings(o)
	if strings.HasPrefix(settings.Host, "/") {
		return nil // a socket, which has no port
	}
	found := detect(ctx, e.Address, w.look)
	within := e.Protocol == PostgreSQL || e.Protocol == MySQL // encryption begins within the protocol
	switch {
	case found == "" || found == e.Protocol:
		return nil
	case found != TLS || within:
	case settings.Encryption() != nil:
		return nil // the protocol inside is not known
	default:
		return otherProtocol(e.Address + " speaks TLS, and the connection is not encrypted; give tls=on, or tls=insecure where the network between can be trusted")
	}
	by, name := drivers[found], ""
	if found == HTTP {
		host, port, _ := net.SplitHostPort(e.Address) // both are empty for an address that detect could not use
		ctx, cancel := context.WithTimeout(ctx, w.look)
		defer cancel()
		if system, err := Identify(ctx, &httpwire.Config{Host: host, Port: port, Timeout: w.look}); err == nil && system.Driver != "" {
			by, name = system.Driver, fmt.Sprintf(" (it is %s)", system.Name)
		}
	}
	if by == k.Name && found != HTTP && e.Protocol == "TCP" {
		return nil // the driver's endpoint has no name for its protocol
	}
	instead := ""
	if by != "" && by != k.Name {
		instead = fmt.Sprintf("use the driver %s, or ", by)
	}
	return otherProtocol(fmt.Sprintf("%s speaks %s%s, and the driver %s needs %s there; %sgive the right port by the option %s%s",
		e.Address, phrase(found), name, k.Name, phrase(e.Protocol), instead, e.Option, defaultOf(k, e)))
}

// phrase returns a protocol as part of a sentence.
func phrase(protocol string) string {
	switch protocol {
	case HTTP, TLS:
		return protocol
	case ClickHouse:
		return "ClickHouse's native protocol"
	case "TCP":
		return "the protocol of its own system"
	}
	return "the " + protocol
}

// defaultOf names the default of an endpoint's option in parentheses; empty: it is the port in use.
func defaultOf(k *driver.Driver, e *driver.Endpoint) string {
	i := slices.IndexFunc(k.Options, func(o driver.Option) bool { return o.Name == e.Option })
	if i < 0 || strings.HasSuffix(e.Address, ":"+k.Options[i].Default) {
		return ""
	}
	return fmt.Sprintf(" (default %s)", k.Options[i].DefaultText())
}
