package conformance

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Address returns where servers/run has started a server for tests. Without it
// the test is skipped, but fails in CI.
func Address(t testing.TB, name string) (host, port string) {
	t.Helper()
	variable := "TSMARK_TEST_" + strings.ToUpper(name)
	address := os.Getenv(variable)
	if address == "" {
		skip := t.Skipf
		if os.Getenv("CI") == "true" {
			skip = t.Fatalf
		}
		skip("%s is not set; run: servers/run %s -- go test ./driver/%[2]s", variable, name)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return host, port
}

// Password is that of the superuser of servers that have one.
func Password(t testing.TB) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "..", "servers", "password"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
