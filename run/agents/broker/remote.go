package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tsmark/tsmark/internal/listen"
)

// Remote is an existing NATS server, or a cluster of them.
type Remote struct {
	URL    string // nats://HOST:PORT or tls://…; several servers of one cluster separated by commas
	Access Access
}

// ErrUnreachable is an error of Connect's if no server answered, which may be temporary.
var ErrUnreachable = errors.New("no NATS server answered")

// Check reports an error in the URL, in a line that says how to fix it.
func (r Remote) Check() error {
	for text := range strings.SplitSeq(r.URL, ",") {
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls":
			return errors.New("the URL of a NATS server is nats://HOST:PORT, or tls://HOST:PORT where it is encrypted")
		case u.User != nil:
			return errors.New("the URL of a NATS server has no user or token in it, which everybody on the machine could read in the list of processes; give @FILE with the token")
		case u.Path != "" && u.Path != "/" || u.RawQuery != "":
			return errors.New("the URL of a NATS server ends with its port, as in nats://HOST:4222")
		}
	}
	if err := r.Access.pair(); err != nil {
		return err
	}
	if a := r.Access; !a.Insecure && a.Token == "" && a.CA == "" && a.Cert == "" {
		for text := range strings.SplitSeq(r.URL, ",") {
			if u, err := url.Parse(text); err == nil && u.Scheme != "tls" && !(listen.Address{Host: u.Hostname()}).Loopback() {
				return fmt.Errorf("the server at %s could be anyone's, and others could read and change the messages: pass the token of the coordinator or the CA of the server's certificate, or --insecure in a network that only you use", text)
			}
		}
	}
	return nil
}

// Reconnecting defines how a connection detects that its server does not answer, and how often it
// retries.
const (
	pingInterval  = 2 * time.Second
	pingsMissing  = 2
	reconnectWait = 250 * time.Millisecond
	dialTime      = 3 * time.Second
)

// Connect connects as the agent with that process, or as a coordinator if it is empty. The
// connection reconnects whenever it breaks. An error says how to fix it, and is ErrUnreachable if
// no server answered.
func (r Remote) Connect(ctx context.Context, name, agent string) (*nats.Conn, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	options, err := r.Access.options(agent)
	if err != nil {
		return nil, err
	}
	c, err := nats.Connect(r.URL, append(options,
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(reconnectWait, reconnectWait),
		nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(pingsMissing), nats.Timeout(dialTime),
		nats.SetCustomDialer(dialer{ctx}), nats.IgnoreDiscoveredServers(), nats.ErrorHandler(ignore),
	)...)
	if err != nil {
		return nil, r.explain(err)
	}
	return c, nil
}

// ignore discards asynchronous errors, which the client would print otherwise: the affected
// messages are sent again.
func ignore(*nats.Conn, *nats.Subscription, error) {}

// dialer ends attempts to connect, including later ones, with its context.
type dialer struct{ ctx context.Context }

func (d dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.ctx, dialTime)
	defer cancel()
	return new(net.Dialer).DialContext(ctx, network, address)
}

// explain returns a helpful error for an error of connecting.
func (r Remote) explain(err error) error {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var alert tls.AlertError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return NewAccessError(r.URL)
	case errors.Is(err, errTokenUnknown):
		return fmt.Errorf("the server at %s does not know the token, so tsmark did not send it: the server is not a coordinator, or has another token or a certificate; pass its token, or the CA of its certificate", r.URL)
	case errors.Is(err, nats.ErrSecureConnWanted) && r.Access.pinned():
		return fmt.Errorf("the NATS server at %s does not encrypt, so it cannot prove that it knows the token, and tsmark did not send it; pass the address of the coordinator, or --insecure for a NATS server in a network that only you use", r.URL)
	case errors.Is(err, nats.ErrSecureConnWanted) && (r.Access.Cert != "" || r.Access.CA != ""):
		return fmt.Errorf("the NATS server at %s does not encrypt, but a certificate was passed; start it with a certificate, or omit the certificates", r.URL)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("the NATS server at %s does not encrypt, which tls:// requires; use nats://, or start it with a certificate", r.URL)
	case errors.As(err, &certificate), errors.As(err, &unknown), errors.As(err, &record):
		return fmt.Errorf("the certificate of the NATS server at %s is not trusted: %w; pass its CA, or the token of the coordinator", r.URL, err)
	case errors.As(err, &alert), errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrTLS), strings.Contains(err.Error(), "tls: "):
		return fmt.Errorf("the NATS server at %s does not accept this encryption: %w; pass the certificate and key that it requires", r.URL, err)
	default:
		return fmt.Errorf("connecting to %s: %w: %w", r.URL, ErrUnreachable, err)
	}
}

// NewAccessError returns the error for a token, or credentials, that a server does not accept.
func NewAccessError(url string) error {
	return fmt.Errorf("the NATS server at %s does not accept the token or credentials; pass those of its coordinator", url)
}

// Private reports whether others cannot read the messages, as far as a client knows: the server
// requires credentials and encrypts.
func (r Remote) Private() bool {
	authenticates := r.Access.Token != "" || r.Access.Credentials != "" || r.Access.Cert != ""
	if r.Access.Insecure {
		return false
	}
	encrypts := r.Access.pinned() || r.Access.CA != "" || r.Access.Cert != ""
	for text := range strings.SplitSeq(r.URL, ",") {
		if !encrypts && !strings.HasPrefix(text, "tls://") {
			return false
		}
	}
	return authenticates
}

// IsConnected returns unknown: only the server itself knows its connections.
func (r Remote) IsConnected(string) (exists, known bool) { return false, false }

// Close does not affect the server.
func (r Remote) Close() error { return nil }
