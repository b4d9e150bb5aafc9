// Package broker finds the NATS server at which a coordinator and its agents meet: one that
// the coordinator has in its own process, or one that exists.
package broker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
)

// Access is what one needs to connect: what a server asks for, and what a client shows.
type Access struct {
	// Token is a secret of both; empty: none. Without certificates a server that tsmark starts
	// also proves by it who it is, before a client shows it.
	Token       string
	Credentials string // file of NATS credentials (.creds), for a server that exists; empty: none
	// Files of PEM. For a server that tsmark starts Cert and Key are its certificate, and CA
	// is who signed those that clients must show. For a client CA is who signed the server's
	// certificate (empty: whom the system trusts), Cert and Key are what it shows.
	CA, Cert, Key string
	// Insecure lets a client use a server that neither encrypts nor proves who it is.
	Insecure bool
}

// mutual reports whether a server asks clients for certificates.
func (a Access) mutual() bool { return a.Cert != "" && a.CA != "" }

// pair refuses half a certificate.
func (a Access) pair() error {
	if (a.Cert == "") != (a.Key == "") {
		return errors.New("a certificate and its key belong together; give both files")
	}
	return nil
}

// tls is what a connection is encrypted with, by the function that sets who is trusted; nil:
// nothing says that it is to be.
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

// pinned reports whether a client expects a server that knows the token.
func (a Access) pinned() bool { return a.Token != "" && a.CA == "" && a.Cert == "" && !a.Insecure }

// options are those of a client; agent is the process of an agent, empty for a coordinator.
func (a Access) options(agent string) (options []nats.Option, err error) {
	config, err := a.tls(func(c *tls.Config, pool *x509.CertPool) { c.RootCAs = pool })
	if a.pinned() {
		config, err = expected(a.Token)
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
