package flag

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tsmark/tsmark/internal/secret"
)

// SplitPair returns the files of a certificate and its key, which are the same without a comma.
func SplitPair(value string) (certificate, key string) {
	certificate, key, other := strings.Cut(value, ",")
	if !other {
		key = certificate
	}
	return certificate, key
}

// ReadCertificate reads a certificate and its key. It returns nil if the value is empty. Errors
// do not quote the key.
func ReadCertificate(value string) (*tls.Certificate, error) {
	if value == "" {
		return nil, nil
	}
	certificate, key := SplitPair(value)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	var path *fs.PathError
	switch {
	case errors.As(err, &path):
		return nil, fmt.Errorf("%w; name a file that this user can read", err)
	case err != nil:
		return nil, fmt.Errorf("%s and %s do not match (%w); give a certificate in PEM and its key, without a passphrase, as CERT,KEY", certificate, key, err)
	}
	return &pair, nil
}

// ReadToken reads the token from a file named as @FILE. Errors do not quote a value that may be
// a token.
func ReadToken(value string) (string, error) {
	token, named, err := secret.FromFile(value)
	switch {
	case !named:
		return "", errors.New("must be @FILE: everybody on the machine could read the token itself in the list of processes")
	case err != nil:
		return "", err
	}
	if token = strings.TrimSpace(token); token == "" {
		return "", errors.New("the file is empty; write a token to it, as openssl rand -hex 16 prints")
	}
	return token, nil
}
