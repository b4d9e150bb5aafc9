package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/stub/front"
)

// TestTLS checks that connections are encrypted after the first request if the client requests it, and
// that an unknown certificate is not trusted.
func TestTLS(t *testing.T) {
	var s *stub
	s = serve(t, welcome(t, func() string { return s.address() }, 4, func(r *request) [][]byte {
		return [][]byte{r.reply(resultFailed, says(CodeContainerNotFound, "no"))}
	}))
	f := front.Serve(t, s.address())
	certificate, err := os.ReadFile(f.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(certificate)
	open := func(address string, config *tls.Config) error {
		c, err := Open(t.Context(), Config{Members: []string{address}, User: "admin", Direct: true, Timeout: 5 * time.Second, TLS: config})
		if err != nil {
			return err
		}
		opened, err := c.Session(t.Context())
		if err != nil {
			return err
		}
		defer func() { _ = opened.Close() }()
		_, err = opened.PutContainer(t.Context(), Container{Name: "x", Columns: []Column{{Name: "a", Type: Long}}})
		return err
	}
	for name, config := range map[string]*tls.Config{"known": {RootCAs: known}, "anybody's": {InsecureSkipVerify: true}} {
		before := f.EncryptedCount()
		if said := AsError(open(f.Address(), config)); said == nil || said.Code != CodeContainerNotFound {
			t.Errorf("%s: %v", name, said)
		}
		if f.EncryptedCount() == before {
			t.Errorf("%s: nothing was encrypted", name)
		}
	}
	var unknown *tls.CertificateVerificationError
	if err := open(f.Address(), &tls.Config{}); !errors.As(err, &unknown) {
		t.Errorf("a certificate that nobody knows: %v", err)
	}
	if err := open(f.Address(), nil); !errors.Is(err, ErrEncrypted) {
		t.Errorf("without TLS: %v", err)
	}
	if err := open(s.address(), &tls.Config{RootCAs: known}); !errors.Is(err, ErrPlain) {
		t.Errorf("a server without TLS: %v", err)
	}
	refuses := serve(t, func(r *request) [][]byte { return [][]byte{r.reply(resultFailed, says(codeSecurity, "no"))} })
	if err := open(refuses.address(), &tls.Config{RootCAs: known}); !errors.Is(err, ErrPlain) {
		t.Errorf("a server without TLS that says so: %v", err)
	}
	if err := open(refuses.address(), nil); !errors.Is(err, ErrEncrypted) {
		t.Errorf("a server with TLS alone that says so: %v", err)
	}
}
