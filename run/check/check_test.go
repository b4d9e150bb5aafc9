package check

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// checkServer returns the findings for a driver's server with only its endpoints available.
func checkServer(t *testing.T, host, port, encryption, password string) []Finding {
	t.Helper()
	kind := driver.Driver{
		Name: "x", Options: connection.Options(option.Option{Name: connection.Port, Default: "1"}),
		Caps: func(driver.Options) driver.Caps { return driver.Caps{} },
		Endpoints: func(o driver.Options) ([]driver.Endpoint, error) {
			wire, err := httpwire.NewConfig(connection.NewSettings(o), "")
			return []driver.Endpoint{wire.Endpoint(connection.Port)}, err
		},
		Open: func(context.Context, driver.Env, driver.Options) (driver.DB, error) {
			return driver.DB{}, errors.New("the server is not an x; set another port")
		},
	}
	settings := map[string]string{connection.Host: host, connection.Port: port, connection.TLS: encryption, connection.Timeout: "5s"}
	if password != "" {
		settings[connection.User], settings[connection.Password] = "joe", password
	}
	options, err := kind.Resolve(settings)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Config{Pings: 3}, Target{Name: "x", Driver: kind, Options: options, Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return r.Findings
}

// holds fails unless there is a finding with the status and the words in its result and fix.
func holds(t *testing.T, findings []Finding, check string, status Status, words ...string) {
	t.Helper()
	for _, f := range findings {
		all := f.Check == check && f.Status == status
		for _, w := range words {
			all = all && strings.Contains(f.Result+"; "+f.Fix, w)
		}
		if all {
			return
		}
	}
	t.Errorf("no finding %s %s with %q: %+v", status, check, words, findings)
}

func TestEndpoints(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	port := func(s *httptest.Server) string {
		_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
		return port
	}
	found := checkServer(t, "127.0.0.1", port(plain), "", "secret")
	holds(t, found, "HTTP", OK, "answers (option port)")
	holds(t, found, "TLS of HTTP", OK, "nothing leaves this machine")
	holds(t, found, "path to HTTP", OK, "round trip ", "median of 3")
	holds(t, found, "session", Failed, "the server is not an x; set another port")

	found = checkServer(t, "127.0.0.1", port(secure), connection.Insecure, "secret")
	holds(t, found, "TLS of HTTP", OK, "on, TLS 1.3; the certificate ends 2084-01-29", "tls=insecure")
	found = checkServer(t, "127.0.0.1", port(secure), connection.On, "")
	holds(t, found, "HTTP", Failed, "option port", "certificate cannot be trusted", "give tls=insecure")

	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, nobody, _ := net.SplitHostPort(free.Addr().String())
	free.Close()
	found = checkServer(t, "127.0.0.1", nobody, "", "")
	holds(t, found, "HTTP", Failed, "127.0.0.1:"+nobody+" (option port) cannot be used", "start the server, or give its port by the option port")
	if len(found) != 1 {
		t.Errorf("each step says it again: %+v", found)
	}
}

// A server of another protocol takes connections, and is nevertheless no endpoint that is ok.
func TestOtherProtocol(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				heard := make([]byte, 8)
				if _, err := io.ReadFull(conn, heard); err == nil && heard[4] == 0x04 && heard[5] == 0xd2 { // the request for encryption
					fmt.Fprint(conn, "N")
				}
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	found := checkServer(t, "127.0.0.1", port, "", "")
	holds(t, found, "HTTP", Failed, "speaks the PostgreSQL protocol, and the driver x needs HTTP there", "use the driver postgres")
	if len(found) != 1 {
		t.Errorf("further steps are checked: %+v", found)
	}
}

// Credentials sent over a network unencrypted, and certificates that expire soon, are reported.
func TestEncryption(t *testing.T) {
	x := &examination{Target: Target{Options: driver.Options{}}}
	x.encryption(&driver.Endpoint{Protocol: "HTTP", Address: "10.1.2.3:80", Secret: true}, nil)
	holds(t, x.report.Findings, "TLS of HTTP", Warned, "cross the network", "give tls=on")
	x.report.Findings = nil
	x.encryption(&driver.Endpoint{Protocol: "HTTP", Address: "10.1.2.3:80"}, nil)
	holds(t, x.report.Findings, "TLS of HTTP", OK, "off")

	x.report.Findings = nil
	state := &tls.ConnectionState{Version: tls.VersionTLS13}
	state.PeerCertificates = append(state.PeerCertificates, &x509.Certificate{NotAfter: time.Now().Add(48 * time.Hour)})
	x.encryption(&driver.Endpoint{Protocol: "HTTP", Address: "10.1.2.3:443", Secret: true}, state)
	holds(t, x.report.Findings, "TLS of HTTP", Warned, "renew the certificate")
}

// Information that no server of a driver provides is explained in the driver's words, and a failed
// request in the server's.
func TestUnknown(t *testing.T) {
	x := &examination{}
	x.addUnknown("clock", "its time", fmt.Errorf("looking: %w", driver.Unknown("X has no clock: look at the wall")))
	x.addUnknown("settings", "them", errors.New("only root may"))
	holds(t, x.report.Findings, "clock", Skip, "X has no clock: look at the wall")
	holds(t, x.report.Findings, "settings", Skip, "the server does not tell them: only root may")
}

// The trial's reader returns all rows once, whatever the size of its batches, and its values
// distinguish rows.
func TestTrial(t *testing.T) {
	for _, size := range []int{1, 3, 100} {
		seen := map[[2]int64]bool{}
		var b series.Batch
		for r := newTrial().Open(); ; {
			err := r.Next(&b, size)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || b.Rows() > size {
				t.Fatal(err, b.Rows())
			}
			for i := range b.Runs[0].Times {
				seen[[2]int64{b.Runs[0].Times[i], int64(b.Runs[0].Series[i])}] = true
			}
		}
		if len(seen) != trialSeries*trialEpochs {
			t.Errorf("batches of %d: %d rows", size, len(seen))
		}
	}
}
