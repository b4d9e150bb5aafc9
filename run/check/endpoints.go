package check

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/protocol"
	"github.com/tsmark/tsmark/monitor"
)

// Reach returns an error if an address does not answer that a run of a driver with the options will
// use, and that opening the target has not tried. It names the option that sets the address. It
// skips addresses for queries only, unless there are queries.
func Reach(ctx context.Context, k *driver.Driver, o driver.Options, queries bool) error {
	endpoints, err := connection.Endpoints(k, o)
	if err != nil {
		return err
	}
	for _, e := range endpoints {
		if e.Opened || e.Queries && !queries {
			continue
		}
		if _, err := protocol.Probe(ctx, k, o, &e); err != nil {
			return fmt.Errorf("%s at %w", e.Protocol, unusable(&e, err))
		}
	}
	return nil
}

// unusable adds to an error its address, and the option that sets it.
func unusable(e *driver.Endpoint, err error) error {
	return fmt.Errorf("%s (option %s) cannot be used: %w", e.Address, e.Option, err)
}

// endpoints checks each address: whether it answers, its encryption, and its latency. It reports
// whether all addresses needed by Open answer.
func (x *examination) endpoints(ctx context.Context) bool {
	endpoints, err := connection.Endpoints(&x.Driver, x.Options)
	if err != nil {
		x.fails("endpoints", err)
		return false
	}
	if x.caps.Embedded {
		x.add("endpoints", Skip, "", "it runs in tsmark's process")
	}
	usable := true
	for i := range endpoints {
		e := &endpoints[i]
		state, err := x.probe(ctx, e)
		if err == nil && !x.caps.OneConnection {
			err = protocol.Mismatch(ctx, &x.Driver, x.Options, e)
		}
		if err != nil {
			x.fails(e.Protocol, unusable(e, err))
			x.last().Fix = fixOf(e, err, x.last().Fix)
			usable = usable && !e.Opened
			continue
		}
		use := ""
		if e.Queries {
			use = ", for queries"
		}
		x.add(e.Protocol, OK, "", "%s answers (option %s%s)", e.Address, e.Option, use)
		x.encryption(e, state)
		x.distance(ctx, e)
	}
	return usable
}

// probe connects to an endpoint.
func (x *examination) probe(ctx context.Context, e *driver.Endpoint) (*tls.ConnectionState, error) {
	defer limit.Announce(x.Waiting, fmt.Sprintf("connecting to %s (option %s)", e.Address, e.Option))()
	return protocol.Probe(ctx, &x.Driver, x.Options, e)
}

// fixOf returns advice for an endpoint that does not answer.
func fixOf(e *driver.Endpoint, err error, said string) string {
	if said == "" && errors.Is(err, driver.ErrUnreachable) {
		return fmt.Sprintf("start the server, or give its port by the option %s", e.Option)
	}
	return said
}

func (x *examination) last() *Finding { return &x.report.Findings[len(x.report.Findings)-1] }

// soon is the time before its expiry when a certificate is reported.
const soon = 14 * 24 * time.Hour

// encryption reports the encryption of a connection.
func (x *examination) encryption(e *driver.Endpoint, state *tls.ConnectionState) {
	check := "TLS of " + e.Protocol
	host, _, err := net.SplitHostPort(e.Address)
	here := err == nil && connection.Local(host)
	switch {
	case state == nil && (x.Options[connection.TLS] == connection.On || x.Options[connection.TLS] == connection.Insecure):
		x.add(check, Skip, "", "option tls=%s; what the server agreed on is not looked at", x.Options[connection.TLS])
	case state == nil && here:
		x.add(check, OK, "", "off; nothing leaves this machine")
	case state == nil && e.Secret:
		x.add(check, Warned, "give tls=on, or use a network that nobody else reads", "off: the credentials and all data cross the network as they are")
	case state == nil:
		x.add(check, OK, "", "off: all data crosses the network as it is")
	case len(state.PeerCertificates) == 0:
		x.add(check, OK, "", "on, %s", tls.VersionName(state.Version))
	default:
		ends := state.PeerCertificates[0].NotAfter
		text, status, fix := fmt.Sprintf("on, %s; the certificate ends %s", tls.VersionName(state.Version), ends.UTC().Format(time.DateOnly)), OK, ""
		if time.Until(ends) < soon {
			status, fix = Warned, "renew the certificate before the runs"
		}
		if x.Options[connection.TLS] == connection.Insecure {
			text += ", and anybody's is taken (tls=insecure)"
		}
		x.add(check, status, fix, "%s", text)
	}
}

// distance measures the round trip by opening connections, which the kernel of the server's host
// answers without work of the server. It skips a server that accepts one connection at a time,
// because these connections might block it.
func (x *examination) distance(ctx context.Context, e *driver.Endpoint) {
	if here, err := monitor.CoLocated(ctx, e.Address); err == nil && here {
		x.local = true
	}
	if x.caps.OneConnection {
		return
	}
	var trips []time.Duration
	for range x.Pings {
		begin := time.Now()
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", e.Address)
		if err != nil {
			break
		}
		trips = append(trips, time.Since(begin))
		_ = conn.Close() // nothing was sent
	}
	check := "path to " + e.Protocol
	if len(trips) == 0 {
		x.add(check, Skip, "", "%s takes no connection by itself: is the server reached by a socket?", e.Address)
		return
	}
	if len(trips) < x.Pings {
		x.add(check, Warned, "raise the server's limit of connections, or look for what drops them between", "only %d of %d connections in a row were taken", len(trips), x.Pings)
		return
	}
	slices.Sort(trips)
	if x.path == 0 || trips[0] < x.path {
		x.path = trips[0]
	}
	x.add(check, OK, "", "round trip %s at least, %s median of %d", milliseconds(trips[0]), milliseconds(trips[len(trips)/2]), len(trips))
}

// milliseconds formats a duration for users.
func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
}
