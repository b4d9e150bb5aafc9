// Package broker provides the NATS server that a coordinator and its agents connect to: one
// embedded in the coordinator's process, or an existing one.
package broker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
)

// Access has the credentials of a connection: required by a server, and presented by a client.
type Access struct {
	// Token is a shared secret; empty: none. Without certificates, a server started by tsmark also
	// uses it to prove its identity before a client presents the token.
	Token       string
	Credentials string // file of NATS credentials (.creds), for an existing server; empty: none
	// PEM files. For a server started by tsmark, Cert and Key are its certificate, and CA signed
	// the certificates that clients must present. For a client, CA signed the server's certificate
	// (empty: the system's authorities), and Cert and Key are the client's certificate.
	CA, Cert, Key string
	// Insecure permits a server that neither encrypts nor proves its identity.
	Insecure bool
}

// mutual reports whether a server requires client certificates.
func (a Access) mutual() bool { return a.Cert != "" && a.CA != "" }

// pair refuses a certificate without a key, and a key without a certificate.
func (a Access) pair() error {
	if (a.Cert == "") != (a.Key == "") {
		return errors.New("a certificate and its key belong together; give both files")
	}
	return nil
}

// tls returns the TLS configuration of a connection; the function sets the trusted authorities;
// nil: no encryption is configured.
func (a Access) tls(trust func(*tls.Config, *x509.CertPool)) (*tls.Config, error) {
	if err := a.pair(); err != nil || a.Cert == "" && a.CA == "" {
		return nil, err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.Cert != "" {
		pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
		if err != nil {
			return nil, fmt.Errorf("reading the certificate %s and its key: %w", a.Cert, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if a.CA != "" {
		text, err := os.ReadFile(a.CA)
		if err != nil {
			return nil, fmt.Errorf("reading who signs certificates: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate in PEM", a.CA)
		}
		trust(c, pool)
	}
	return c, nil
}

// pinned reports whether a client requires a server that knows the token.
func (a Access) pinned() bool { return a.Token != "" && a.CA == "" && a.Cert == "" && !a.Insecure }

// options returns the options of a client; agent is the process of an agent, empty for a
// coordinator.
func (a Access) options(agent string) (options []nats.Option, err error) {
	config, err := a.tls(func(c *tls.Config, pool *x509.CertPool) { c.RootCAs = pool })
	if a.pinned() {
		config, err = newClientTLS(a.Token)
	}
	if err != nil {
		return nil, err
	}
	if config != nil {
		options = append(options, nats.Secure(config))
	}
	if a.Token != "" {
		options = append(options, nats.Token(a.Token))
	}
	if agent != "" {
		options = append(options, nats.UserInfo(agent, ""), nats.CustomInboxPrefix("_INBOX."+agent))
	}
	if a.Credentials != "" {
		if _, err := os.Stat(a.Credentials); err != nil {
			return nil, fmt.Errorf("reading credentials: %w", err)
		}
		options = append(options, nats.UserCredentials(a.Credentials))
	}
	return options, nil
}
