package conformance

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/servers"
)

// variable names the environment variable with the address of a driver's server.
func variable(name string) string { return "TSMARK_TEST_" + strings.ToUpper(name) }

// HasAddress reports whether the address of a server for the driver is set.
func HasAddress(name string) bool { return os.Getenv(variable(name)) != "" }

// Address returns the address where servers/run has started a server for tests, or the
// user-provided one. Without it the test is skipped, but fails in CI, where every
// server is started that is not left to .ci/nightly and has a script.
func Address(t testing.TB, name string) (host, port string) {
	t.Helper()
	address := os.Getenv(variable(name))
	switch {
	case address != "":
	case !slices.Contains(servers.Names(), name):
		t.Skipf("%s is not set, and no script starts such a server: start one, as docs/drivers/%s.md says, and run: %[1]s=HOST:PORT go test ./driver/db/%[2]s", variable(name), name)
	case os.Getenv("CI") == "true" && !slices.Contains(servers.Slow(), name):
		t.Fatalf("%s is not set; run: servers/run %s -- go test ./driver/db/%[2]s", variable(name), name)
	default:
		t.Skipf("%s is not set; run: servers/run %s -- go test ./driver/db/%[2]s", variable(name), name)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatalf("%s: %v", variable(name), err)
	}
	return host, port
}

// file returns the text of a file in the folder servers.
func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(ModuleRoot(t), "servers", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ModuleRoot returns the folder of go.mod, which is above the folder that a test runs in.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the folder that the test runs in")
		}
		dir = filepath.Dir(dir)
	}
}

// TestServer returns the options that lead to the driver's server for tests, which
// they may fill and empty, with others, given as names and values.
func TestServer(t testing.TB, d driver.Driver, pairs ...string) map[string]string {
	t.Helper()
	host, port := Address(t, d.Name)
	first, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	options := map[string]string{connection.Host: host}
	for i, name := range d.Ports() {
		options[name] = strconv.Itoa(first + i)
	}
	for name, value := range d.TestServer {
		if value == "@servers/password" {
			value = Password(t)
		}
		options[name] = value
	}
	for i := 0; i < len(pairs); i += 2 {
		options[pairs[i]] = pairs[i+1]
	}
	return options
}

// Sole waits until no other test, of this process or another, uses the driver's server for
// tests, and keeps it until the test ends. Tests need it if the server has only one place
// for rows instead of a database for each test, since packages are tested side by side.
func Sole(t testing.TB, d driver.Driver) {
	t.Helper()
	_, port := Address(t, d.Name)
	held := "TSMARK_TEST_SOLE_" + strings.ToUpper(d.Name)
	if os.Getenv(held) != "" {
		return // this test has it already, or the one that it is a part of
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(os.TempDir(), "tsmark-test-"+d.Name+"-"+port)).Lock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unlock)
	t.Setenv(held, port)
}

// Loopback tests that the driver's server for tests, whose password is public,
// is reached from this host alone: nothing listens on its other addresses.
func Loopback(t *testing.T, d driver.Driver) {
	_, port := Address(t, d.Name)
	first, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		own, ok := a.(*net.IPNet)
		if !ok || own.IP.IsLoopback() || own.IP.IsLinkLocalUnicast() {
			continue
		}
		for n := range process.PortsInARow {
			to := net.JoinHostPort(own.IP.String(), strconv.Itoa(first+n))
			if c, err := net.DialTimeout("tcp", to, 10*time.Second); err == nil {
				_ = c.Close()
				t.Errorf("somebody listens on %s", to)
			}
		}
	}
}

// Password is that of the superuser of servers that have one.
func Password(t testing.TB) string {
	t.Helper()
	return strings.TrimSpace(file(t, "password"))
}
