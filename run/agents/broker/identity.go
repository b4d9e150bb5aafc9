package broker

import (
	"crypto/ed25519"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// A coordinator proves by TLS that it knows the token: the key of its certificate is derived from
// the token, and agents derive the expected key. An agent reveals nothing usable before that; the
// token itself is sent through the encrypted connection. A certificate created at each start could
// not be known to agents that wait for their coordinator, as on Kubernetes, with systemd and over
// SSH; the token is already known to both sides.
const (
	identityUse = "tsmark: the coordinator of agents"
	// identityRounds make each guess of a token take some 10 ms of a core: a token chosen by a user
	// is weaker than a random one.
	identityRounds = 100_000
)

// identity is the key of a coordinator.
func identity(token string) (ed25519.PrivateKey, error) {
	seed, err := pbkdf2.Key(sha256.New, token, []byte(identityUse), identityRounds, ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("making a key of the token: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// newServerTLS returns the TLS configuration of a server that knows the token.
func newServerTLS(token string) (*tls.Config, error) {
	key, err := identity(token)
	if err != nil {
		return nil, err
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tsmark"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // clocks may differ
	}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}}, nil
}

// errTokenUnknown is the error of a server that does not know the token.
var errTokenUnknown = errors.New("it does not know the token")

// newClientTLS returns the TLS configuration of a client that accepts a server only if it knows the
// token.
func newClientTLS(token string) (*tls.Config, error) {
	key, err := identity(token)
	if err != nil {
		return nil, err
	}
	public := key.Public().(ed25519.PublicKey)
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // the key proves the identity, instead of an authority and a name
		VerifyConnection: func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) == 1 && public.Equal(c.PeerCertificates[0].PublicKey) {
				return nil
			}
			return errTokenUnknown
		},
	}, nil
}
