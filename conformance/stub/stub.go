// Package stub has servers for tests of drivers: in this process, of a protocol
// and of no database, so that they answer whatever a test wants.
package stub

import (
	"net"
	"strings"
	"testing"
)

// TCP is a server of 127.0.0.1 that calls serve for each connection
// and closes it then. It ends with the test.
func TCP(t testing.TB, serve func(net.Conn)) (host, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return split(t, l.Addr())
}

// Nobody is an address without a listener.
func Nobody(t testing.TB) (host, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return split(t, l.Addr())
}

func split(t testing.TB, a net.Addr) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// Secret is a password for tests. It must not appear in errors.
const Secret = "s3cret"

// Says fails the test unless an error is one line that says all of this, and not
// the secret.
func Says(t testing.TB, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want %q", says)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q does not say %q", err, s)
		}
	}
	if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), Secret) {
		t.Errorf("error %q has several lines, or a secret", err)
	}
}
