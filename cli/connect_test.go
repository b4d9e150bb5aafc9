package cli

import (
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/stub"
)

// A wrong port of the right host is named with the protocol found there. No run is stored, and the
// password of a connection string is in nothing that tsmark writes.
func TestWrongProtocol(t *testing.T) {
	host, port := stub.HTTP(t, stub.Paths(map[string]string{"/": "Ok.\n"}))
	address, results := net.JoinHostPort(host, port), t.TempDir()
	said := address + " speaks HTTP (it is ClickHouse), and the driver clickhouse needs ClickHouse's native protocol there"
	const fix = "give the right port by the option port (default 9000)"
	target := "clickhouse://me:hunter2xyz@" + address + "/x"
	code, text := tryAll(t, nil, "tsmark", "load", target, "--results", results, "--scale", "1", "--log-interval", "1h")
	if want := "tsmark: target clickhouse failed: " + said + "; " + fix + "\n"; code != app.ExitTarget || text != want {
		t.Errorf("load: exit status %d, said\n%swant\n%s", code, text, want)
	}
	if code, text = tryAll(t, nil, "tsmark", "check", target, "--results", results); code != app.ExitWithheld || !strings.Contains(text, said) || !strings.Contains(text, "to fix it: "+fix) {
		t.Errorf("check: exit status %d, said\n%s", code, text)
	}
	if code, text = tryAll(t, nil, "tsmark", "runs", "--results", results); code != app.ExitDone || strings.Contains(text, "clickhouse") {
		t.Errorf("runs: exit status %d, said\n%s", code, text)
	}
	if found, _ := exec.CommandContext(t.Context(), "grep", "-rlaF", "hunter2xyz", results).Output(); len(found) > 0 {
		t.Errorf("the password is in %s", found)
	}
}

// The system of an HTTP server is found out. The experiment names the driver, and hides the password.
func TestConnectionStrings(t *testing.T) {
	host, port := stub.HTTP(t, stub.Paths(map[string]string{"/": "Ok.\n"}))
	web := net.JoinHostPort(host, port)
	host, port = stub.HTTP(t, stub.Saying(http.StatusOK, "", "It works!"))
	other := net.JoinHostPort(host, port)
	host, port = stub.Nobody(t)
	nobody := net.JoinHostPort(host, port)
	_, webPort, _ := net.SplitHostPort(web)
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"--target", "http://me:hunter2xyz@" + web + "/x", "--print"}, app.ExitDone, []string{
			"name: clickhouse", "driver: clickhouse", `password: "***"`, "http_port: " + webPort, "protocol: http", "database: x", "user: me",
		}},
		{[]string{"--target", "pg=postgresql://me:hunter2xyz@db1/x?sslmode=require", "--print"}, app.ExitDone, []string{"name: pg", "driver: postgres", `password: "***"`, "tls: insecure"}},
		{[]string{"--target", "http://me:hunter2xyz@" + other + "/x"}, app.ExitUsage, []string{other + " answers HTTP, but not as a system that tsmark recognizes; name its driver, as in influxdb://" + other + "/DATABASE"}},
		{[]string{"--target", "http://me:hunter2xyz@" + nobody + "/x"}, app.ExitTarget, []string{"finding out which system it is: " + nobody + " cannot be reached"}},
		{[]string{"--target", "postgres://me:hunter2xyz@db1/x?application_name=y"}, app.ExitUsage, []string{`postgres has no option "application_name"`}},
		{[]string{"--target", "mongodb://me:hunter2xyz@db1/x"}, app.ExitUsage, []string{`unknown driver "mongodb"`}},
		{[]string{"postgres://me:hunter2xyz@db1/x", "--print"}, app.ExitDone, []string{"driver: postgres", "host: db1", `password: "***"`}},
		{[]string{"mongodb://me:hunter2xyz@db1/x"}, app.ExitUsage, []string{"mongodb://me:***@db1/x names a target; write tsmark run --target mongodb://me:***@db1/x"}},
	} {
		code, text := tryAll(t, nil, append([]string{"tsmark", "run", "--results", t.TempDir()}, c.args...)...)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q does not say %q:\n%s", c.args, want, text)
			}
		}
		if code != c.code || strings.Contains(text, "hunter2xyz") {
			t.Errorf("%q: exit status %d, said\n%s", c.args, code, text)
		}
	}
}
